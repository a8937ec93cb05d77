/** Packages whose modules have other names than they themselves; and modules that come along. */
const modulesOf: Record<string, string> = {
  pymupdf: "pymupdf fitz",
  pandas: "pandas numpy dateutil pytz tzdata six",
  numpy: "numpy",
  requests: "requests urllib3 certifi idna charset_normalizer",
  pillow: "PIL",
  psycopg: "psycopg psycopg_binary psycopg_pool psycopg_c typing_extensions",
  "psycopg-binary": "psycopg_binary psycopg",
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
  pymssql: "pymssql _mssql",
  "python-dotenv": "dotenv",
  "python-magic": "magic",
  "pdfminer.six": "pdfminer",
  "pdfminer-six": "pdfminer",
  pdfplumber: "pdfplumber pdfminer PIL",
  pytesseract: "pytesseract PIL",
  openpyxl: "openpyxl et_xmlfile",
  xlsxwriter: "xlsxwriter",
  matplotlib: "matplotlib mpl_toolkits numpy PIL dateutil pyparsing",
  boto3: "boto3 botocore s3transfer jmespath dateutil",
  botocore: "botocore jmespath dateutil",
  jinja2: "jinja2 markupsafe",
  httpx: "httpx httpcore anyio h11 idna certifi",
  aiohttp: "aiohttp yarl multidict aiosignal frozenlist attr",
  attrs: "attr attrs",
  "discord.py": "discord",
  slack_sdk: "slack_sdk",
  "slack-sdk": "slack_sdk",
  "ruamel.yaml": "ruamel",
  "ruamel-yaml": "ruamel",
  sqlalchemy: "sqlalchemy greenlet typing_extensions",
  weasyprint: "weasyprint",
  reportlab: "reportlab PIL",
  lxml: "lxml",
  imapclient: "imapclient",
  "python-slugify": "slugify text_unidecode",
  unidecode: "unidecode",
  pyzbar: "pyzbar",
  stripe: "stripe requests",
  twilio: "twilio requests jwt",
  sendgrid: "sendgrid python_http_client",
  dnspython: "dns",
  "email-validator": "email_validator dns idna",
  "charset-normalizer": "charset_normalizer",
  "typing-extensions": "typing_extensions",
  setuptools: "setuptools pkg_resources",
  "factur-x": "facturx lxml",
  ofxparse: "ofxparse bs4 lxml",
  msal: "msal requests jwt",
};

/** Installed beside every Python. */
const always = ["pip", "setuptools", "pkg_resources"];

/**
 * The top-level modules that lines for pip (`requests>=2`, `psycopg[binary]`) make importable. A package that is not
 * known has the name that it has: `my-package` is `my_package`.
 */
export function importableModules(requirements: readonly string[]): string[] {
  const found = requirements.flatMap((line) => {
    const name = nameIn(line);
    if (name === undefined) return [];
    const own = name.replace(/[-.]/g, "_");
    return [...(isKnownPackage(line) ? (modulesOf[name] ?? "").split(" ") : []), own, ...shortNames(own)];
  });
  return Array.from(new Set([...always, ...found]));
}

/** Whether all modules are known that a line for pip brings. */
export function isKnownPackage(line: string): boolean {
  return Object.hasOwn(modulesOf, nameIn(line) ?? "");
}

function nameIn(line: string): string | undefined {
  return /^\s*([A-Za-z0-9][\w.-]*)/.exec(line)?.[1]?.toLowerCase();
}

/** `python-foo`, `pyfoo` and `foo-python` often are the module `foo`. */
function shortNames(name: string): string[] {
  const short = name.replace(/^(python_|py_)/, "").replace(/(_python|_py|\d)$/, "");
  return short === name ? [] : [short];
}

/** Top-level modules of the standard library of any Python from 3.10 to 3.14. */
export const standardModules: ReadonlySet<string> = new Set(
  (
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
    "zipimport zlib zoneinfo __main__"
  ).split(" "),
);
