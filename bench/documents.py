"""Which pages are surely good? The HTML documentation of Debian packages, each package a host of its own."""

import os
import subprocess
import sys
from pathlib import Path

import measuring

# Manuals by people and by programs, of one author and of thousands, in many languages.
PACKAGES = """
abs-guide ada-reference-manual-2012 anarchism apache2-doc aptitude-doc-ja aptitude-doc-ru casacore-doc clhep-doc
cmake-doc cppreference-doc-en-html csound-doc db5.3-doc dcmtk-doc debian-faq debian-handbook debian-policy
debian-reference-de debian-reference-en debian-reference-fr debian-reference-ja debian-reference-zh-cn derby-doc
developers-reference docbook-xsl-doc-html dpdk-doc efl-doc erlang-doc exim4-doc-html fop-doc fp-docs-3.2.2
freedombox-doc-es ghc-doc gimp-help-de gimp-help-el gimp-help-en gimp-help-fa gimp-help-fr gimp-help-ko gimp-help-nn
gimp-help-ru gimp-help-zh-cn git-doc gnuradio-doc groovy-doc installation-guide-amd64 lazarus-doc-2.2 libace-doc
libapache-poi-java-doc libasio-doc libboost1.74-doc libcommons-math3-java-doc libcrypto++-doc libcurl4-doc
libfastutil-java-doc libgtk-3-doc libgtk-4-doc libjfreechart-java-doc liblapack-doc libocamlgraph-ocaml-doc
libreoffice-help-de libreoffice-help-el libreoffice-help-es libreoffice-help-hi libreoffice-help-ja
libreoffice-help-pt-br libreoffice-help-tr libreoffice-help-vi libreoffice-help-zh-tw libsbml5-doc libstdc++-12-doc
libxalan-c-doc libxcb-doc lilypond-doc-html lilypond-doc-html-es lilypond-doc-html-it linux-doc-6.1 live-manual-html
macaulay2-common maint-guide mh-book octave-doc opencv-doc openjdk-17-doc petsc3.18-doc pike8.0-doc postfix-doc
postgresql-doc-15 python-astropy-doc python-celery-doc python-dask-doc python-django-doc python-pandas-doc
python-scipy-doc python-scrapy-doc python-sklearn-doc python-sqlalchemy-doc python-sympy-doc python3.11-doc
qt3d5-doc-html qtbase5-doc-html qtdeclarative5-doc-html quantlib-refman-html racket-doc rt5-doc-html rust-doc
sagemath-doc scala-doc singular-doc sqlite3-doc stl-manual sumo-doc trilinos-doc twisted-doc udo-doc-de uima-doc
varnish-doc vtk9-doc wx3.2-doc
""".split()

# What the name of a page ends in.
ENDINGS = (".html", ".htm", ".xhtml")


def fetched(packages, directory):
    """Unpacks packages below `directory`, each once; says where each of them is."""
    places = {}
    if not all((directory / package).exists() for package in packages):
        # Without fresh lists the versions that are asked for may be gone; whoever may not fetch them has old ones.
        subprocess.run(["apt-get", "update", "--quiet=2"], stdout=sys.stderr)
    for package in packages:
        place = directory / package
        if not place.exists() and not unpacked(package, directory, place):
            print(f"{package}: not to be had from here, left out", file=sys.stderr)
            continue
        places[package] = place
    return places


def unpacked(package, directory, place):
    quietly = {"cwd": directory, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.run(["apt-get", "download", package], **quietly).returncode != 0:
        return False
    for archive in directory.glob(f"{package}_*.deb"):
        subprocess.run(["dpkg-deb", "--extract", archive, place], check=True)
        archive.unlink()
    leave_pages(place)
    return place.exists()


def leave_pages(place):
    """Removes what is no page: pictures and programs take most of the room."""
    for top, _, names in os.walk(place):
        for name in names:
            if not name.endswith(ENDINGS):
                Path(top, name).unlink()


def pages(place, most):
    """The HTML files of a package, as paths within it; evenly chosen where there are more than `most`."""
    found = []
    for top, _, names in os.walk(place):
        files = (Path(top, name) for name in names if name.endswith(ENDINGS))
        found += [str(file.relative_to(place)) for file in files if file.is_file() and not file.is_symlink()]
    found.sort()
    step = max(len(found) / most, 1)
    return [found[int(number * step)] for number in range(min(most, len(found)))]


def served(directory):
    """Every package below `directory` as the host `PACKAGE.test`."""
    port, config = measuring.free_port(), directory / "nginx.conf"
    config.write_text(f"""
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log stderr error;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_requests 1000000; sendfile on; server_names_hash_bucket_size 128;
  types {{ text/html html htm; application/xhtml+xml xhtml; }}
  client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
  uwsgi_temp_path {directory}; scgi_temp_path {directory};
  server {{ listen 127.0.0.1:{port}; server_name ~^(?<package>.+)[.]test$; root {directory}/$package; }}
}}""")
    return measuring.served(["nginx", "-p", directory, "-c", config], port, directory / "nginx.log")
