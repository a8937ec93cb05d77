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
