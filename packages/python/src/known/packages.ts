export const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** The modules that a pip package provides in addition to the module of its own name. */
const modulesOf: Record<string, string> = {
  pymupdf: "fitz",
  pandas: "numpy dateutil pytz tzdata six",
  requests: "urllib3 certifi idna charset_normalizer",
  pillow: "PIL",
  psycopg: "psycopg_binary psycopg_pool psycopg_c typing_extensions",
  "psycopg-binary": "psycopg",
  "psycopg2-binary": "psycopg2",
  "python-dateutil": "dateutil six",
  beautifulsoup4: "bs4 soupsieve",
  pyyaml: "yaml",
  "python-docx": "docx lxml",
  "python-pptx": "pptx lxml PIL",
  "scikit-learn": "sklearn numpy scipy joblib threadpoolctl",
  "scikit-image": "skimage numpy scipy PIL",
  "opencv-python": "cv2 numpy",
  "opencv-python-headless": "cv2 numpy",
  "google-api-python-client": "googleapiclient google_auth_httplib2 httplib2 google",
  "google-auth": "google",
  "google-cloud-storage": "google",
  "google-cloud-bigquery": "google",
  protobuf: "google",
  pyjwt: "jwt",
  "python-jose": "jose",
  pycryptodome: "Crypto",
  pyopenssl: "OpenSSL",
  "mysql-connector-python": "mysql",
  mysqlclient: "MySQLdb",
  pymssql: "_mssql",
  "python-dotenv": "dotenv",
  "python-magic": "magic",
  "pdfminer-six": "pdfminer",
  pdfplumber: "pdfminer PIL",
  pytesseract: "PIL",
  openpyxl: "et_xmlfile",
  matplotlib: "mpl_toolkits numpy PIL dateutil pyparsing",
  boto3: "botocore s3transfer jmespath dateutil",
  botocore: "jmespath dateutil",
  jinja2: "markupsafe",
  httpx: "httpcore anyio h11 idna certifi",
  aiohttp: "yarl multidict aiosignal frozenlist attr",
  attrs: "attr",
  "discord-py": "discord",
  "ruamel-yaml": "ruamel",
  sqlalchemy: "greenlet typing_extensions",
  reportlab: "PIL",
  "python-slugify": "slugify text_unidecode",
  stripe: "requests",
  twilio: "requests jwt",
  sendgrid: "python_http_client",
  dnspython: "dns",
  "email-validator": "dns idna",
  setuptools: "pkg_resources",
  "factur-x": "facturx lxml",
  ofxparse: "bs4 lxml",
  msal: "requests jwt",
};

const plain = wordSet(
  "numpy xlsxwriter slack-sdk weasyprint lxml imapclient unidecode pyzbar charset-normalizer typing-extensions",
);

/** Modules that every Python installation has. */
const always = ["pip", "setuptools", "pkg_resources"];

/**
 * Lists the modules that can be imported after pip has installed the requirements. An unknown package provides the
 * module of its own name.
 */
export function listImportableModules(requirements: readonly string[]): string[] {
  const found = requirements.flatMap((line) => {
    const name = nameIn(line);
    const own = name.replaceAll("-", "_");
    return [...(Object.hasOwn(modulesOf, name) ? (modulesOf[name] ?? "").split(" ") : []), own, ...shortNames(own)];
  });
  return Array.from(new Set([...always, ...found])).filter((module) => module !== "");
}

export function isKnownPackage(line: string): boolean {
  return plain.has(nameIn(line)) || Object.hasOwn(modulesOf, nameIn(line));
}

/** Returns the package name in a line for pip, normalised by PEP 503; empty if the line names none. */
function nameIn(line: string): string {
  const [, name = ""] = /^\s*([A-Za-z0-9][\w.-]*)/.exec(line) ?? [];
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** Returns shorter names for the module of a package: `python-foo`, `pyfoo` and `foo-python` often provide `foo`. */
function shortNames(name: string): string[] {
  const short = name.replace(/^(python_|py_)/, "").replace(/(_python|_py|\d)$/, "");
  return short === name ? [] : [short];
}

/** Top-level modules of the standard libraries of Python 3.10 to 3.14. */
export const standardModules = wordSet(
  "__future__ _thread abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit " +
    "audioop base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code " +
    "codecs codeop collections colorsys compileall compression concurrent configparser contextlib contextvars " +
    "copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email " +
    "encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc " +
    "genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib " +
    "imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma " +
    "mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt " +
    "ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes " +
    "pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc " +
    "pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select " +
    "selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile " +
    "sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig " +
    "syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token " +
    "tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib " +
    "uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile " +
    "zipimport zlib zoneinfo __main__",
);
