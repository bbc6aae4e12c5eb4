"""Which pages are real? The HTML documentation that Debian packages install, served by nginx."""

import glob
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import measuring

PACKAGES = "nginx-light postgresql-doc python3-doc sqlite3-doc git-doc apache2-doc libboost-doc python-django-doc libgtk-3-doc"
INSTALL = f"apt-get install --no-install-recommends {PACKAGES}"
# Where the packages put their pages, and how many are taken from each: boost alone has thousands.
SOURCES = {
    "postgresql": ("/usr/share/doc/postgresql-doc-*/html", 2000),
    "python": ("/usr/share/doc/python3.*/html", 2000),
    "sqlite": ("/usr/share/doc/sqlite3", 2000),
    "git": ("/usr/share/doc/git-doc", 2000),
    "apache": ("/usr/share/doc/apache2-doc/manual/en", 2000),
    "django": ("/usr/share/doc/python-django-doc/html", 2000),
    "gtk": ("/usr/share/gtk-doc/html", 2000),
    "boost": ("/usr/share/doc/libboost*-doc", 1100),
}
LEAST_PAGES = 1000
LINK = re.compile(rb"""(<a(?:rea)?\b[^>]*?\bhref\s*=\s*)("[^"]*"|'[^']*')|<(?:link|meta|base|i?frame)\b[^>]*>""", re.I)


def prepare(directory):
    """Copies the pages, once; returns how many there are, or 0 where too few are installed and can be."""
    done = directory / "count"
    if done.exists():
        return int(done.read_text())
    pages = found()
    if is_too_little(pages):
        install()
        pages = found()
    if is_too_little(pages):
        return 0
    root = directory / "root"
    for name, source in pages.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(neutralised(name, source.read_bytes(), pages))
    links = "".join(f'<p><a href="/{html.escape(name)}">{html.escape(name)}</a>' for name in pages)
    (root / "index.html").write_text(f"<!doctype html><title>All pages</title>{links}")
    done.write_text(str(len(pages) + 1))
    return len(pages) + 1


def is_too_little(pages):
    return len(pages) < LEAST_PAGES or not shutil.which("nginx")


def install():
    """Asks the system's package manager for them, where we may."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quietly = {"stdout": sys.stderr, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "--quiet=2"], **quietly)
        subprocess.run([*INSTALL.split(), "--quiet=2", "--yes"], **quietly)


def found():
    pages = {}
    for name, (pattern, most) in SOURCES.items():
        for top in glob.glob(pattern)[:1]:
            files = sorted(path for path in Path(os.path.realpath(top)).rglob("*.html") if path.is_file())
            pages |= {f"{name}/{path.relative_to(os.path.realpath(top))}": path for path in files[:most]}
    return pages


def neutralised(name, page, pages):
    """Links to files that are not there would be followed by some crawlers more often than by others, and so
    would those that differ only behind `#`."""

    def judge(match):
        if match[2] is None:
            return b""
        address, _, _ = match[2][1:-1].partition(b"#")
        leads = leads_to(name, address.decode("utf-8", "replace"), pages)
        return match[1] + b'"' + (address if leads else b"#") + b'"'

    return LINK.sub(judge, page)


def leads_to(name, href, pages):
    path, _ = urldefrag(html.unescape(href))
    if not path or "//" in path or "?" in path or ":" in path:
        return False
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path))) in pages


def served(directory, access_log=None):
    """The pages on loopback; one worker, connections that stay open. Writes status and path of every
    request to `access_log`, where one is given."""
    port = measuring.free_port()
    log = f"{access_log} asked" if access_log else "off"
    config = directory / "nginx.conf"
    config.write_text(f"""
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log stderr error;
events {{ worker_connections 512; }}
http {{
  log_format asked '$status $uri'; access_log {log};
  keepalive_requests 1000000; sendfile on; tcp_nodelay on; open_file_cache max=20000;
  types {{ text/html html; }}
  client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
  uwsgi_temp_path {directory}; scgi_temp_path {directory};
  server {{ listen 127.0.0.1:{port}; root {directory}/root; }}
}}""")
    return measuring.served(["nginx", "-p", directory, "-c", config], port, directory / "nginx.log")
