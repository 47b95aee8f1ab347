#!/usr/bin/python3
"""Stands in for `cantus-worker` where a test is about the pool and not about the worker.

Its behaviour is the first word of CANTUS_COMMAND. As the real one it is held at the bus socket until a slot opens,
leaves on SIGTERM, and has nothing to save.
"""
import ctypes, errno, json, os, pathlib, signal, socket, sys, time

SOCKET = "/cantus/sockets/bus.sock"
AGENT = 61001


def attempt(action):
    """The name of the error that the action ends with, or what it gives."""
    try:
        return action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))


def bus_socket():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(SOCKET)
    return connection


def dial(address):
    connection = socket.create_connection(address, timeout=5)
    connection.close()
    return "connected"


def system_call(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) == 0:
        return "allowed"
    raise OSError(ctypes.get_errno(), name)


def write(path):
    with open(path, "w") as file:
        file.write("x")
    return "written"


def run_from_tmp():
    path = pathlib.Path("/tmp/program")
    path.write_text("#!/bin/sh\nexit 7\n")
    path.chmod(0o755)
    return os.waitstatus_to_exitcode(os.system(str(path)))


def status(field):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(field + ":"))


def seen_by_agent():
    new_user_namespace, new_mount_namespace = 0x10000000, 0x00020000
    return {
        "uid": os.getuid(),
        "groups": os.getgroups(),
        "capabilities": status("CapEff"),
        "capabilities_bounding": status("CapBnd"),
        "no_new_privileges": status("NoNewPrivs"),
        "bus": attempt(lambda: bus_socket() and "connected"),
        "environment_of_init": attempt(lambda: open("/proc/1/environ").read()),
        "environment_of_entry": attempt(lambda: open(f"/proc/{os.getppid()}/environ").read()),
        "signal_to_init": attempt(lambda: os.kill(1, 0)),
        "raw_socket": attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW) and "open"),
        "unshare_user": attempt(lambda: system_call("unshare", new_user_namespace)),
        "unshare_mounts": attempt(lambda: system_call("unshare", new_mount_namespace)),
        "mount": attempt(lambda: system_call("mount", b"none", b"/tmp", b"tmpfs", 0, None)),
        "mknod": attempt(lambda: os.mknod("/tmp/device", 0o600 | 0o020000, os.makedev(1, 1))),
        "setuid": attempt(lambda: os.setuid(0)),
        "run_from_tmp": attempt(run_from_tmp),
        "write_workspace_root": attempt(lambda: write("/cantus/work/planted")),
        "mirror": sorted(os.listdir("/cantus/mirror")),
        "mounted_data": attempt(lambda: open("/opt/data/hello").read()),
    }


def seen_by_entry():
    return {
        "capabilities": status("CapEff"),
        "bus": attempt(lambda: bus_socket() and "connected"),
        "interfaces": sorted(os.listdir("/sys/class/net")),
        "outside": attempt(lambda: dial(("1.1.1.1", 80))),
        "gateway": attempt(lambda: dial(("172.17.0.1", 22))),
        "host_loopback": attempt(lambda: dial(("127.0.0.1", int(json.loads(os.environ["CANTUS_ENVIRONMENT"])["PORT"])))),
        "outside_6": attempt(lambda: dial(("2606:4700:4700::1111", 80))),
        "name": "resolved" if resolves("example.com") else "no",
        "write_root": attempt(lambda: write("/etc/planted")),
        "write_binaries": attempt(lambda: write("/cantus/bin/planted")),
        "write_mirror": attempt(lambda: write("/cantus/mirror/planted")),
        "write_sockets": attempt(lambda: write("/cantus/sockets/planted")),
        "write_data": attempt(lambda: write("/opt/data/planted")),
        "docker_socket": [path for path in ("/var/run/docker.sock", "/run/docker.sock") if os.path.exists(path)],
        "devices": [name for name in ("mem", "kmsg", "sda", "vda", "kvm") if os.path.exists(f"/dev/{name}")],
        "init": open("/proc/1/cmdline").read().split("\0")[0],
        "leaked": [name for name in os.environ if "DOCKER" in name],
    }


def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, 80))
    except socket.gaierror:
        return False


def isolation():
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setgroups([])
        os.setgid(AGENT)
        os.setuid(AGENT)
        os.write(writing, json.dumps(seen_by_agent()).encode())
        os._exit(0)
    os.wait()
    agent = json.loads(os.read(reading, 65536))
    print(json.dumps({"entry": seen_by_entry(), "agent": agent}), flush=True)
    signal.pause()


def main():
    if sys.argv[1:] == ["salvage"]:
        sys.exit(0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if sys.argv[1:] != ["lease"]:
        sys.exit(2)
    behaviour, *rest = json.loads(os.environ["CANTUS_COMMAND"])
    if behaviour == "die":
        print("no such agent here", flush=True)
        sys.exit(127)
    connection = bus_socket()
    greeting = connection.recv(4096)
    if not greeting.startswith(b"INFO "):
        sys.exit(1)
    if behaviour == "serve":
        time.sleep(float(rest[0]))
        sys.exit(0)
    if behaviour == "isolation":
        isolation()
    if behaviour == "hog":
        hog = [bytearray(1 << 20) for _ in range(1 << 20)]
    print("open", flush=True)
    signal.pause()


main()
