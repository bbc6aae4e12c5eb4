"""What did a command cost? Builds the programs, serves pages, runs and measures commands."""

import contextlib
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOOR = ROOT / "bench" / "floor" / "Cargo.toml"


@dataclass
class Cost:
    """What a command took, with all processes that it started and waited for."""

    cpu: float
    wall: float
    peak_mb: float
    output: str
    # The share of all cores' time that something ran on them meanwhile, servers and others too.
    busy: float

    def report(self):
        """The last line of its output, which is JSON."""
        return json.loads(self.output.splitlines()[-1])


def run(command, stdin=None, expected=(0,)):
    """Runs a command to its end; another exit code than expected ends the measuring."""
    began, idle = time.monotonic(), idle_seconds()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(list(map(str, command)), stdin=stdin, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
        output.seek(0), errors.seek(0)
        if process.returncode not in expected:
            sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{errors.read().decode()}")
        cpu = usage.ru_utime + usage.ru_stime
        busy = 1 - (idle_seconds() - idle) / (wall * os.cpu_count())
        return Cost(cpu, wall, usage.ru_maxrss / 1024, output.read().decode(), busy)


def idle_seconds():
    """For how long the cores had nothing to do, since the machine started, one after the other."""
    idle, waiting = Path("/proc/stat").read_text().split(maxsplit=6)[4:6]
    return (int(idle) + int(waiting)) / os.sysconf("SC_CLK_TCK")


def crawler(binary=None):
    """The crawler to measure: the one given, or a fresh release build."""
    if binary:
        return Path(binary).resolve()
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "evercrawl-cli"], cwd=ROOT, check=True)
    return target() / "release" / "evercrawl"


def floor():
    """The program that measures the floor."""
    build = ["cargo", "build", "--release", "--locked", "--manifest-path", FLOOR, "--target-dir", target()]
    subprocess.run(build, cwd=ROOT, check=True)
    return target() / "release" / "evercrawl-bench-floor"


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@contextlib.contextmanager
def served(command, port, log):
    """A server that listens on `port` while the block runs."""
    with open(log, "w") as sink:
        server = subprocess.Popen(list(map(str, command)), stdout=sink, stderr=sink)
    try:
        wait_for(server, port, log)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_for(server, port, log):
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"the server does not answer: {Path(log).read_text()}")


def testweb(binary, work, *options, preset="bench"):
    """Pages of our own making, one thread."""
    port = free_port()
    command = [binary, "testweb", "--preset", preset, "--threads", 1, "--listen", f"127.0.0.1:{port}", *options]
    return served(command, port, work / "testweb.log")


@contextlib.contextmanager
def directory(path):
    """A path to put something, which is taken away afterwards."""
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def crawl_command(binary, address, data, *options, delay="0", per_host=16, concurrency=64):
    """A crawl of hosts of our own, as fast as it goes where no pace is given."""
    pace = ["--delay", delay, "--per-host", per_host, "--concurrency", concurrency]
    where = ["--allow-private", "--connect-to", f"::{address}", "--data", data]
    return [binary, "crawl", *pace, *where, "--json", "--quiet", *options]


def machine():
    """What was measured on: figures of another machine say nothing about this one."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = {line.split(":")[1].strip() for line in lines if line.startswith("model name")}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": " and ".join(sorted(names)) or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory),
        "system": f"{platform.system()} {platform.release()}",
        "busy": round(os.getloadavg()[1], 1),
    }


def spread(values, digits=3):
    """Median, least and most."""
    shown = [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]
    return f"{shown[0]} ({shown[1]} to {shown[2]})"
