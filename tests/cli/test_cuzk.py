#!/usr/bin/env python3
"""The program `cuzk` as its users call it: every command, its exit codes, its JSON, its errors.

    test_cuzk.py PATH-OF-CUZK FOLDER-OF-VECTORS [NAME...]

Runs each test_ function below (or those named), each in an empty folder of its own. Ends with
`N passed, N failed`.
"""
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback

CUZK = os.path.abspath(sys.argv[1])
VECTORS = os.path.abspath(sys.argv[2])
KEYS = VECTORS + "/keys/"
SANITIZED = "CUZK_SANITIZED" in os.environ
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
COMMANDS = ["setup", "prove", "verify", "inspect", "export", "shape", "witness", "inputs",
            "mock-sector", "devices", "version"]


class Result:
    def __init__(self, args, code, out, err, peak):
        self.args, self.code, self.out, self.err, self.peak = args, code, out, err, peak

    def json(self):
        return json.loads(self.out)

    def says(self, text):
        assert text in self.err + self.out, f"{self.args}: {text!r} not in {self.err!r} {self.out!r}"
        return self


def cuzk(*args, code=0, env=None, timeout=300):
    """Runs the program; its exit code must be `code`."""
    args = [str(a) for a in args]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    p = subprocess.run([CUZK] + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=timeout,
                       env={**os.environ, **(env or {})})
    r = Result(args, p.returncode, p.stdout.decode(), p.stderr.decode(),
               max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
    assert p.returncode == code, f"{args}: exit {p.returncode}, not {code}\n{r.out}{r.err}"
    if "--json" in args and "--help" not in args:
        r.json()
    if code == 0:
        assert r.err == "", f"{args}: said {r.err!r} on stderr"
    else:
        assert "\033" not in r.err, "control sequences without a terminal"
    return r


def unpack(name, to):
    with open(to, "wb") as f:
        subprocess.run(["zstd", "-dcq", VECTORS + "/" + name], stdout=f, check=True)
    return to


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


def proof_of(name):
    return json.load(open(KEYS + name + ".proof.json"))


def rs_of(name):
    waste = proof_of(name)["waste"]
    return waste["r"] + "," + waste["s"]


# ---- the frame ----


def test_help_and_version():
    assert cuzk("--version").out.startswith("cuzk ")
    overview = cuzk("--help").out
    cuzk(code=2).says("Usage: cuzk COMMAND")
    for name in COMMANDS:
        assert f"\n  {name} " in overview, name
        text = cuzk(name, "--help").out
        assert text.startswith(f"Usage: cuzk {name} [OPTION]"), text
        assert cuzk("help", name).out == text
        for line in text.splitlines():
            assert len(line) <= 120, line
            if line.startswith("  --"):
                assert len(line.split()) > 2, f"{name}: {line}: no description"
        cuzk(name, "--no-such", code=2).says(f"see `cuzk {name} --help`")
        r = cuzk(name, "--no-such", "--json", code=2)
        assert r.json()["error"]["status"] == "argument"
    cuzk("frobnicate", code=2).says('no command "frobnicate"')
    assert "frobnicate" in cuzk("frobnicate", "--json", code=2).json()["error"]["message"]
    assert set(cuzk("version", "--json").json()) >= {"version", "isa", "processors"}
    devices = cuzk("devices", "--json").json()["devices"]
    assert devices[0]["name"] == "cpu" and devices[0]["processors"] >= 1


def test_documents():
    """Every command and option stands in the man page and in each shell's completion."""
    root = os.path.dirname(os.path.dirname(VECTORS))
    man = open(root + "/doc/man/cuzk.1").read()
    shells = {s: open(f"{root}/programs/cuzk/cuzk.{s}").read() for s in ["bash", "zsh", "fish"]}
    for name in COMMANDS:
        assert name in man, name
        options = [line.split()[0][2:] for line in cuzk(name, "--help").out.splitlines()
                   if line.startswith("  --")]
        assert "json" in options and "help" in options
        for o in options:
            assert f"Fl -{o}" in man, f"man page: --{o}"
        bash = [line for line in shells["bash"].splitlines() if line.startswith(f"    {name}) ")]
        for o in options[:-2]:
            assert f"--{o}" in bash[0].replace('"', " ").split(), f"bash: {name} --{o}"
            assert f"__fish_seen_subcommand_from {name}' -l {o} " in shells["fish"], f"fish: {o}"
        zsh = shells["zsh"].split(f"\n{name}) _arguments")[1].split(";;")[0]
        for o in options:
            assert f"'--{o}[" in zsh, f"zsh: {name} --{o}"
        for text in shells.values():
            assert name in text


def test_wrong_lines():
    p = KEYS + "toy5.params"
    c = KEYS + "toy5.r1cs.zst"
    for line, text in [
        (["setup"], "CIRCUIT is missing"),
        (["setup", c, c, "--out", "x"], "one CIRCUIT is expected"),
        (["setup", c], "--out or --vk is needed"),
        (["setup", c, "--out"], "--out needs a value"),
        (["setup", c, "--out", ""], "--out : not a name"),
        (["setup", c, "--out", "x", "--threads", "-1"], "not a whole number"),
        (["setup", c, "--out", "x", "--threads", "1x"], "not a whole number"),
        (["setup", c, "--out", "x", "--memory", "99999999TiB"], "not a number of bytes"),
        (["setup", c, "--out", "x", "--memory", "0"], "not a number of bytes above 0"),
        (["setup", c, "--out", "x", "--threads", "5000"], "1024"),
        (["setup", c, "--out", "x", "--threads", 1 << 32], "1024"),
        (["setup", c, "--out", "x", "--vk", "x"], "--out x: would take the place of --vk"),
        (["setup", c, "--out", "x", "--vk", "./x"], "would take the place of --vk"),
        (["setup", c, "--out", c], "would take the place of " + c),
        (["setup", c, "--out", "."], "a folder"),
        (["setup", c, "--vk", "/dev/null"], "/dev/null: not a regular file"),
        (["setup", "porep-1KiB", "--out", "x"], "neither a circuit"),
        (["setup", c, "--out", "x", "--isa", "mmx"], "mmx"),
        (["setup", c, "--out", "x", "--device", "abacus"], "abacus"),
        (["setup", c, "--out", "x", "--device", "cpu,cpu"], "one device"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--device", "cpu,"], "is missing"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--device", "cpu,abacus"], "abacus"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--device", "auto,cpu"],
         "auto stands alone"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--device", "cpu,cuda:-1"],
         "a number, or all, must follow"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--device", "cpu," + 64 * "x"],
         "too long"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--device", 64 * "cpu," + "cpu"],
         "more than 64 devices"),
        (["setup", c, "--out", "/nonexistent/x"], "/nonexistent/x"),
        (["prove", "--out", "x"], "exactly one of --c1 and --r1cs"),
        (["prove", "--params", p, "--r1cs", c], "--out is needed"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--miner", "1"], "come together"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--miner", "1", "--sector", "1"],
         "--miner needs --c1"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--repeat", "0"], "at least 1"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--repeat", "1000001"], "at most"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--insecure-rs", "1,2"],
         "64 hex digits"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--insecure-rs",
          "ff" * 32 + "," + "00" * 32], "below the order r"),
        (["prove", "--params", p, "--r1cs", c, "--out", "x", "--overlap", "2"], "0 or 1"),
        (["prove", "--params", p, "--r1cs", c, "--out", "/nonexistent/x"], "/nonexistent/x"),
        (["prove", "--params", p, "--r1cs", c, "--out", p], "would take the place of --params"),
        (["prove", "--params", "absent", "--r1cs", c, "--out", "/dev/stdout"], "not a regular"),
        (["prove", "--make-key", "x", "--r1cs", c, "--out", "x"], "the place of --out"),
        (["prove", "--params", p, "--c1", "absent.json", "--out", "x"], "absent.json"),
        (["prove", "--params", "absent.params", "--r1cs", c, "--out", "x"], "absent.params"),
        (["prove", "--r1cs", c, "--out", "x"], "--params is needed"),
        (["verify", "--vk", p], "--proof is needed"),
        (["verify", "--vk", p, "--proof", p], "exactly one of"),
        (["verify", "--vk", p, "--proof", p, "--c1", "a", "--r1cs", "b"], "exactly one of"),
        (["verify", "--vk", p, "--proof", p, "--r1cs", c, "--miner", "1", "--sector", "2"],
         "--miner needs"),
        (["inspect"], "FILE is missing"),
        (["inspect", "absent"], "absent"),
        (["inspect", "--circuit", "porep-3", p], "no such circuit"),
        (["export", "--vk", p], "--out is needed"),
        (["export", "--out", "."], "nothing to export"),
        (["shape", "absent"], "neither a circuit"),
        (["witness"], "--c1 is needed"),
        (["inputs", "absent.json"], "absent.json"),
        (["mock-sector", "porep-2KiB", "--out", "x"], "--seed is needed"),
        (["mock-sector", "porep-2KiB", "--seed", "1"], "--out is needed"),
        (["mock-sector", "porep-2KiB", "--seed", "1", "--out", "x", "--statement", "x"],
         "the place of --statement"),
        (["mock-sector", "toy5", "--seed", "1", "--out", "x"], "no circuit"),
        (["devices", "x"], "unexpected operand"),
        (["version", "x"], "unexpected operand"),
    ]:
        cuzk(*line, code=2).says(text)
        r = cuzk(*line[:1], "--json", *line[1:], code=2)
        assert text in r.json()["error"]["message"], r.out
    assert os.listdir(".") == [], os.listdir(".")


# ---- setup, prove, verify ----


def test_toy_circuits():
    for name in ["toy5", "toy3000"]:
        circuit = KEYS + name + ".r1cs.zst"
        want = proof_of(name)
        r = cuzk("setup", circuit, "--out", "k.params", "--vk", "k.vk", "--insecure-waste",
                 KEYS + name + ".proof.json", "--json").json()
        assert r["insecure"] and r["params_bytes"] == os.path.getsize("k.params")
        assert read("k.params") == read(KEYS + name + ".params")
        assert read("k.vk") == read(KEYS + name + ".vk")
        isas = ["portable"] + (["x86_64-adx"] if "adx" in open("/proc/cpuinfo").read() else [])
        for isa in isas:
            for threads in [1, 3]:
                r = cuzk("prove", "--params", "k.params", "--r1cs", circuit, "--insecure-rs",
                         rs_of(name), "--out", "p.bin", "--isa", isa, "--threads", threads,
                         "--device", "cpu", "--json").json()
                assert read("p.bin").hex() == want["proof"], (name, isa, threads)
                assert r["insecure_rs"] and r["runs"][0]["seconds"]["total"] > 0
                assert r["runs"][0]["memory"]["peak"] > 0
        cuzk("verify", "--vk", "k.vk", "--proof", "p.bin", "--r1cs", circuit).says("valid")
        # random r and s: another proof each time, and valid too
        seen = {read("p.bin")}
        for _ in range(2):
            r = cuzk("prove", "--params", "k.params", "--r1cs", circuit, "--out", "p.bin",
                     "--repeat", "2", "--json").json()
            assert len(r["runs"]) == 2
            seen.add(read("p.bin"))
            cuzk("verify", "--vk", "k.params", "--proof", "p.bin", "--r1cs", circuit)
        assert len(seen) == 3
        # the same key made in memory, and a random one
        r = cuzk("prove", "--make-key", "m.vk", "--insecure-waste", KEYS + name + ".proof.json",
                 "--r1cs", circuit, "--insecure-rs", rs_of(name), "--out", "p.bin", "--json").json()
        assert r["development_key"] == "made in memory" and r["insecure_waste"]
        assert read("p.bin").hex() == want["proof"] and read("m.vk") == read("k.vk")
        cuzk("prove", "--make-key", "m.vk", "--r1cs", circuit, "--out", "p.bin")
        assert read("m.vk") != read("k.vk")
        cuzk("verify", "--vk", "m.vk", "--proof", "p.bin", "--r1cs", circuit).says("valid")
        cuzk("verify", "--vk", "k.vk", "--proof", "p.bin", "--r1cs", circuit, code=1)
        # our own random key
        cuzk("setup", circuit, "--out", "own.params")
        assert read("own.params") != read("k.params")
        cuzk("prove", "--params", "own.params", "--r1cs", circuit, "--out", "p.bin")
        cuzk("verify", "--vk", "own.params", "--proof", "p.bin", "--r1cs", circuit)
        cuzk("verify", "--vk", "k.vk", "--proof", "p.bin", "--r1cs", circuit, code=1)


def test_devices():
    """Proofs spread over devices and lanes: the known bytes, each run reported, in order."""
    for name in ["toy5", "toy3000"]:
        circuit, want = KEYS + name + ".r1cs.zst", proof_of(name)["proof"]
        base = ["prove", "--r1cs", circuit, "--out", "p.bin", "--threads", 2, "--json"]
        fixed = ["--insecure-rs", rs_of(name)]
        for key in [["--params", KEYS + name + ".params"],
                    ["--make-key", "m.vk", "--insecure-waste", KEYS + name + ".proof.json"]]:
            for devices, overlap, repeat in [("cpu,cpu", [], 12), ("cpu,cpu,cpu", [], 1),
                                             ("cpu,cpu,cpu", ["--overlap", 1], 7),
                                             ("cpu", ["--overlap", 1], 5),
                                             ("cpu,cpu", ["--overlap", 0], 3)]:
                r = cuzk(*base, *key, *fixed, *overlap, "--device", devices, "--repeat",
                         repeat).json()
                assert read("p.bin").hex() == want, (name, devices, overlap)
                os.remove("p.bin")
                names = devices.split(",")
                assert [d["name"] for d in r["devices"]] == names
                assert all(d["why"] == "cpu was asked for" for d in r["devices"])
                assert [d["device"] for d in r["proofs_by_device"]] == names
                done = [d["proofs"] for d in r["proofs_by_device"]]
                assert sum(done) == repeat == len(r["runs"]), done
                if overlap == ["--overlap", 0]:
                    assert done == [repeat, 0]
                if repeat == 12 and name == "toy3000":
                    assert min(done) > 0, done
                assert all(0 < run["seconds"]["total"] <= r["proving"] for run in r["runs"])
        # of several random ones, the last run's
        cuzk(*base, "--params", KEYS + name + ".params", "--device", "cpu,cpu", "--repeat", 4)
        assert read("p.bin").hex() != want
        cuzk("verify", "--vk", KEYS + name + ".vk", "--proof", "p.bin", "--r1cs", circuit)
    # lines for people come run by run and keep their order
    out = cuzk("prove", "--r1cs", KEYS + "toy5.r1cs.zst", "--params", KEYS + "toy5.params", "--out",
               "p.bin", "--device", "cpu,cpu", "--repeat", 3).out
    assert out.count("total: ") == 3 and out.index("runs") < out.index("proofs_by_device"), out
    os.remove("p.bin")
    # a witness that does not satisfy: every lane fails, one error comes out, and no proof
    dump = bytearray(read(unpack("keys/toy3000.r1cs.zst", "c.r1cs")))
    dump[-32] ^= 1
    write("wrong.r1cs", bytes(dump))
    for overlap in [0, 1]:
        r = cuzk("prove", "--r1cs", "wrong.r1cs", "--params", KEYS + "toy3000.params", "--out",
                 "p.bin", "--device", "cpu,cpu", "--repeat", 9, "--overlap", overlap, "--json",
                 code=2)
        assert r.json()["error"]["status"] == "unsatisfied", r.out
        assert "row" in r.err and not os.path.exists("p.bin"), r.err


def test_verify_refuses():
    circuit = KEYS + "toy5.r1cs.zst"
    proof = bytes.fromhex(proof_of("toy5")["proof"])
    vk = read(KEYS + "toy5.vk")
    write("p.bin", proof)
    public = [str(int.from_bytes(bytes.fromhex(x), "little"))
              for x in proof_of("toy5")["public_inputs"]]
    write("public.json", json.dumps(public))
    good = ["verify", "--vk", KEYS + "toy5.vk", "--proof", "p.bin", "--public", "public.json"]
    assert cuzk(*good, "--json").json()["verdict"] == "valid"
    rng = random.Random(1)
    # each byte of the proof, one bit of it
    for at in range(0, 192, 1 if not SANITIZED else 16):
        bad = bytearray(proof)
        bad[at] ^= 1 << rng.randrange(8)
        write("bad.bin", bytes(bad))
        r = cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "bad.bin", "--r1cs", circuit,
                 "--json", code=1).json()
        assert r["verdict"] == "not valid" and "bad.bin" in r["error"]["message"]
    for size in [0, 1, 191, 193, 384]:
        write("bad.bin", (proof + proof)[:size])
        cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "bad.bin", "--r1cs", circuit, code=1)
    # the equation uses alpha_g1, beta_g2, gamma_g2, delta_g2 and ic; not beta_g1 and delta_g1
    for name, at, size in [("alpha_g1", 0, 96), ("beta_g2", 192, 192), ("gamma_g2", 384, 192),
                           ("delta_g2", 672, 192), ("ic[0]", 868, 96), ("ic[2]", 1060, 96)]:
        for _ in range(3):
            bad = bytearray(vk)
            bad[at + rng.randrange(size)] ^= 1 << rng.randrange(8)
            write("bad.vk", bytes(bad))
            cuzk("verify", "--vk", "bad.vk", "--proof", "p.bin", "--r1cs", circuit,
                 code=2).says("bad.vk: " + name[:2])
    # points of the group in the wrong place are a key, and not this one
    swapped = vk[:868] + vk[964:1060] + vk[868:964] + vk[1060:]
    write("bad.vk", swapped)
    cuzk("verify", "--vk", "bad.vk", "--proof", "p.bin", "--r1cs", circuit, code=1)
    # public inputs: another value, too few, too many, not below r
    for values, code in [([public[0], str(int(public[1]) ^ 1)], 1), (public[:1], 2),
                         (public + ["0"], 2), ([public[0], str(int(public[1]) + R)], 2),
                         ([public[0], "-1"], 2), ([public[0], ""], 2), ({}, 2)]:
        write("other.json", json.dumps(values))
        cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "p.bin", "--public", "other.json",
             code=code)
    cuzk("verify", "--vk", "absent.vk", "--proof", "p.bin", "--r1cs", circuit, code=2)
    cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "absent.bin", "--r1cs", circuit, code=2)


def test_dump_that_lies():
    """A header's counts take no memory that the file could not fill."""
    circuit = bytearray(read(unpack("keys/toy5.r1cs.zst", "c.r1cs")))
    for at, count in [(8, 1 << 28), (12, 1 << 30)]:
        lying = bytearray(circuit)
        lying[at:at + 4] = count.to_bytes(4, "little")
        write("lying.r1cs", bytes(lying))
        subprocess.run(["zstd", "-qf", "lying.r1cs", "-o", "lying.zst"], check=True)
        for name in ["lying.r1cs", "lying.zst"]:
            r = cuzk("inspect", name, "--json", code=1).json()
            assert "bytes of witness should follow" in r["fault"]["message"], r
            cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "c.r1cs", "--r1cs", name,
                 code=2).says(name)


def test_outputs():
    """A result appears whole or not at all, and nothing else is touched."""
    circuit = KEYS + "toy5.r1cs.zst"
    key = KEYS + "toy5.params"
    prove = ["prove", "--params", key, "--r1cs", circuit, "--out"]
    # where it cannot go, that is said before the key is opened, and nothing is said to be done
    os.mkdir("folder")
    os.mkfifo("fifo")
    for out in ["folder", "fifo", "/dev/null", "absent/p.bin", "p" * 256]:
        r = cuzk("prove", "--params", "absent", "--r1cs", circuit, "--out", out, code=2)
        assert r.err.startswith(f"cuzk prove: {out}: ") and r.out == "", r.err + r.out
    assert stat.S_ISFIFO(os.stat("fifo").st_mode) and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    # a link stays one, and what it leads to is replaced
    write("old", "old")
    os.symlink("old", "link")
    cuzk(*prove, "link")
    assert os.path.islink("link") and os.path.getsize("old") == 192
    # a file too many bytes long for the limit: the old one stays, no temporary does
    write("k.params", "old")
    before = sorted(os.listdir("."))
    p = subprocess.run([CUZK, "setup", circuit, "--out", "k.params"], capture_output=True,
                       preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                           resource.setrlimit(resource.RLIMIT_FSIZE, (999, 999))))
    assert p.returncode == 2 and b"k.params: cannot write" in p.stderr, p
    assert read("k.params") == b"old" and sorted(os.listdir(".")) == before
    # killed at any time: the old file or the new one, and no temporary
    circuit = KEYS + "toy3000.r1cs.zst"
    size = os.path.getsize(KEYS + "toy3000.params")
    for wait in [0.01, 0.03, 0.1, 0.2, 0.4, 0.8]:
        write("k.params", "old")
        p = subprocess.Popen([CUZK, "setup", circuit, "--out", "k.params"],
                             stdout=subprocess.DEVNULL)
        time.sleep(wait)
        p.send_signal(signal.SIGINT)
        assert p.wait() in (0, -signal.SIGINT)
        assert read("k.params") == b"old" or os.path.getsize("k.params") == size
        assert sorted(os.listdir(".")) == before, os.listdir(".")
    # two at once: one of them wins, whole
    both = [subprocess.Popen([CUZK, "setup", circuit, "--out", "k.params"],
                             stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [p.wait() for p in both] == [0, 0]
    assert os.path.getsize("k.params") == size and sorted(os.listdir(".")) == before
    cuzk("inspect", "--full", "k.params")
    # streams that are closed: their numbers are not taken by files, which would be printed into
    for fd in [1, 2]:
        p = subprocess.run([CUZK] + prove + ["p.bin", "--repeat", "200"], capture_output=True,
                           preexec_fn=lambda: os.close(fd))
        assert p.returncode == (2 if fd == 1 else 0) and os.path.getsize("p.bin") == 192, p
        os.remove("p.bin")
    # nobody listens
    for stdout in [open("/dev/full", "w"), subprocess.DEVNULL]:
        p = subprocess.run([CUZK, "version", "--json"], stdout=stdout, stderr=subprocess.PIPE)
        assert (p.returncode == 0) == (stdout == subprocess.DEVNULL), p


def test_key_of_another_circuit():
    cuzk("prove", "--params", KEYS + "toy3000.params", "--r1cs", KEYS + "toy5.r1cs.zst", "--out",
         "p.bin", code=2).says("toy3000.params")
    unpack("sectors/v11-101/c1.json.zst", "c1.json")
    cuzk("prove", "--params", KEYS + "toy5.params", "--c1", "c1.json", "--out", "p.bin",
         code=2).says("toy5.params")
    assert not os.path.exists("p.bin")
    # the network's keys are taken where they should be, and nothing else under their names
    write("p.bin", bytes.fromhex(json.load(open(KEYS + "porep-2KiB-dev.json"))["proofs"][0]["proof"]))
    cuzk("verify", "--proof", "p.bin", "--c1", "c1.json", code=2,
         env={"FIL_PROOFS_PARAMETER_CACHE": "/nonexistent"}).says("/nonexistent/v28-stacked")
    os.mkdir("keys")
    shutil.copy(KEYS + "porep-2KiB-dev.vk", "keys/v28-stacked-proof-of-replication-merkletree-"
                "poseidon_hasher-8-0-0-sha256_hasher-"
                "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk")
    r = cuzk("verify", "--proof", "p.bin", "--c1", "c1.json", "--json", code=2,
             env={"FIL_PROOFS_PARAMETER_CACHE": "keys"})
    assert r.json()["error"]["status"] == "digest" and "keys/v28-stacked" in r.out
    cuzk("verify", "--proof", "p.bin", "--r1cs", KEYS + "toy5.r1cs.zst", code=2).says("--vk is")
    os.remove("p.bin")
    # no key in the cache: the error names the path where the network's should be
    r = cuzk("prove", "--c1", "c1.json", "--out", "p.bin", code=2,
             env={"FIL_PROOFS_PARAMETER_CACHE": "/nonexistent/keys"})
    r.says("/nonexistent/keys/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-"
           "sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.params")


# ---- inspect ----


def test_inspect_kinds():
    unpack("sectors/v11-101/c1.json.zst", "c1.json")
    unpack("sectors/v11-101/c1-wrapped.json.zst", "wrapped.json")
    unpack("sectors/mini32-501/c1.json.zst", "mini.json")
    write("p.bin", bytes.fromhex(proof_of("toy5")["proof"]))
    cuzk("export", "--vk", KEYS + "toy5.vk", "--proof", "p.bin", "--r1cs", KEYS + "toy5.r1cs.zst",
         "--out", ".")
    for path, kind, more in [
        (KEYS + "toy5.params", "proving key", {"inputs": 3, "h": 15, "l": 7, "a": 9, "b_g1": 8}),
        (KEYS + "toy5.vk", "verifying key", {"inputs": 3}),
        (KEYS + "toy5.r1cs.zst", "circuit dump", {"has_witness": True, "satisfied": True}),
        (KEYS + "toy5.proof.json", "waste", {"has_rs": True}),
        ("p.bin", "proof", {"partitions": 1}),
        ("c1.json", "C1 output", {"registered_proof": "StackedDrg2KiBV1_1", "challenges": 2}),
        ("wrapped.json", "C1 output", {"circuit": "porep-2KiB"}),
        (VECTORS + "/sectors/v11-101/meta.json", "statement", {"sector_number": 32627}),
        ("verification_key.json", "snarkjs verifying key", {}),
        ("proof-0.json", "snarkjs proof", {}),
    ]:
        r = cuzk("inspect", path, "--json").json()
        assert r["kind"].startswith(kind), (path, r)
        for key, value in more.items():
            assert r[key] == value, (path, key, r)
        text = cuzk("inspect", path).out
        assert "verdict: no fault found" in text
        # the same content under a name that says nothing
        if not path.endswith(".json"):
            shutil.copy(path, "thing")
            assert cuzk("inspect", "thing", "--json").json()["kind"] == r["kind"], path
    cuzk("inspect", "mini.json", "--circuit", "porep-mini32").says("porep-mini32")
    r = cuzk("inspect", "porep-2KiB", "--json").json()
    assert r["constraints"] == 2687921 and r["aux"] == 2685673 and r["inputs"] == 40
    assert sum(t["rows"] * t["instances"] for t in r["template_list"]) == r["constraints"]
    assert "sha256 block" in cuzk("inspect", "porep-2KiB").out


def test_inspect_full():
    shutil.copy(KEYS + "toy5.params", "k.params")
    r = cuzk("inspect", "k.params", "--json").json()
    assert r["origin"].startswith("not known")
    r = cuzk("inspect", "k.params", "--full", "--json").json()
    assert r["origin"] == "development key" and r["points"] == "all checked"
    assert r["sha256"] == proof_of("toy5")["params_sha256"] == r["file_sha256"]
    note = json.load(open("k.params.cuzk.json"))
    assert note["blake2b"] == r["blake2b"] and note["size"] == 6456
    cuzk("inspect", "k.params.cuzk.json").says("earlier")
    # remembered: no --full needed, until the file changes
    assert cuzk("inspect", "k.params", "--json").json()["origin"] == "development key"
    bad = bytearray(read("k.params"))
    bad[3000] ^= 1
    write("k.params", bytes(bad))
    assert cuzk("inspect", "k.params", "--json").json()["origin"].startswith("not known")
    r = cuzk("inspect", "k.params", "--full", "--json", code=1).json()
    assert r["verdict"] == "faulty" and "point" in r["fault"]["message"]
    r = cuzk("inspect", "k.params", "--json", code=1).json()
    assert r["verdict"] == "faulty", "a remembered fault is a fault"
    line = ["prove", "--params", "k.params", "--r1cs", KEYS + "toy5.r1cs.zst", "--out", "p.bin"]
    cuzk(*line, code=2).says("found by `cuzk inspect --full`")
    shutil.copy(KEYS + "toy5.params", "k.params")
    assert cuzk(*line, "--json").json()["key_checked_in_full"] is False
    cuzk("inspect", "k.params", "--full")
    assert cuzk(*line, "--json").json()["key_checked_in_full"] is True
    # a published name and another content
    name = ("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
            "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk")
    shutil.copy(KEYS + "toy5.vk", name)
    r = cuzk("inspect", name, "--json").json()
    assert r["origin"].startswith("named as a network key") and r["sector_size"] == 2048
    r = cuzk("inspect", name, "--full", "--json", code=1).json()
    assert r["fault"]["status"] == "digest" and "fetch it again" in r["fault"]["message"]


def faulty(path, data, *more):
    """`inspect` of this content: a fault that names the file."""
    write(path, data)
    r = cuzk("inspect", path, "--json", *more, code=1)
    j = r.json()
    assert j["verdict"] == "faulty" and path in j["fault"]["message"], j
    assert len(j["fault"]["message"]) < 480
    return j["fault"]


def test_bad_files():
    unpack("sectors/v11-101/c1.json.zst", "good.json")
    write("good.proof", bytes.fromhex(proof_of("toy3000")["proof"]))
    shutil.copy(KEYS + "toy5.params", "good.params")
    shutil.copy(KEYS + "toy5.vk", "good.vk")
    shutil.copy(KEYS + "toy5.r1cs.zst", "good.r1cs.zst")
    shutil.copy(VECTORS + "/sectors/v11-101/meta.json", "meta.json")
    shutil.copy(KEYS + "toy5.proof.json", "waste.json")
    rng = random.Random(2)
    for good in ["good.json", "good.proof", "good.params", "good.vk", "good.r1cs.zst", "meta.json",
                 "waste.json"]:
        data = read(good)
        bad = "bad" + good[good.index("."):]
        cuzk("inspect", good)
        faulty(bad, b"")
        for cut in [1, 7, len(data) // 3, len(data) // 2, len(data) - 1]:
            faulty(bad, data[:cut])
        faulty(bad, data + b"{")
        faulty(bad, data + bytes(100))
        faulty(bad, bytes(len(data)))
        faulty(bad, b"\xff" * len(data))
        # flipped bits: an error or another valid file, never a crash; keys notice each
        for _ in range(20 if not SANITIZED else 5):
            flipped = bytearray(data)
            flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            write(bad, bytes(flipped))
            p = subprocess.run([CUZK, "inspect", bad, "--full", "--json"], capture_output=True,
                               timeout=120)
            assert p.returncode in (0, 1), (bad, p.returncode, p.stderr)
            json.loads(p.stdout)
            if good in ("good.params", "good.vk", "good.proof"):
                assert p.returncode == 1, (good, "a flipped bit went unnoticed")


def test_counts_of_all_ones():
    # 2^32 - 1 points in a file of 900 bytes; 2^32 - 1 inputs and rows in a dump of 100
    head = read(KEYS + "toy5.params")[:864]
    for data in [head + b"\xff" * 4, head + b"\xff" * 36]:
        for suffix in [".params", ".vk"]:
            f = faulty("big" + suffix, data)
            assert f["status"] == "truncated", f
            assert "4294967295" in f["message"]
    dump = b"R1CSREC1" + b"\xff\xff\xff\xff" * 5 + b"\xff" * 72
    r = None
    write("big.r1cs", dump)
    r = cuzk("inspect", "big.r1cs", "--json", code=1)
    if not SANITIZED:
        assert r.peak < 100_000, f"{r.peak} KiB for a file of 100 bytes"
    cuzk("setup", "big.r1cs", "--out", "x.params", code=2).says("big.r1cs")
    f = faulty("deep.json", b"[" * 1000000)
    assert "offset" in f["message"] or "deep" in f["message"], f
    faulty("deep.json", b'{"vanilla_proofs":' * 100000)
    faulty("long.json", b'{"' + b"k" * 1000000 + b'": 1}')


def test_points():
    listed = json.load(open(VECTORS + "/curve/bls12_381-encodings.json"))
    g1 = [e for e in listed if e["kind"] == "g1_compressed"]
    g2 = [e for e in listed if e["kind"] == "g2_compressed"]
    good = bytes.fromhex(proof_of("toy5")["proof"])
    for e in g1 + g2:
        point = bytes.fromhex(e["bytes"])
        if e["verdict"] == "valid" and point[0] & 0x40 == 0:
            continue
        bad = point + good[48:] if len(point) == 48 else good[:48] + point + good[144:]
        write("p.bin", bad)
        r = cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "p.bin", "--r1cs",
                 KEYS + "toy5.r1cs.zst", "--json", code=1).json()
        assert r["verdict"] == "not valid", e
        if SANITIZED:
            break


# ---- sectors ----


def test_shape():
    want = json.load(open(VECTORS + "/shape/porep-2KiB.json"))
    got = cuzk("shape", "porep-2KiB", "--chunks", "rows.chunks", "--json").json()
    for key, value in want.items():
        if key != "seconds_here":
            assert got[key] == value, key
    lines = open("rows.chunks").read().splitlines()
    assert len(lines) == (want["constraints"] + 65535) // 65536
    import hashlib
    assert hashlib.sha256(bytes.fromhex("".join(lines))).hexdigest() == want["rows_sha256"]
    want = json.load(open(KEYS + "toy5.json"))
    got = cuzk("shape", KEYS + "toy5.r1cs.zst", "--json").json()
    for key in ["rows_sha256", "a_aux_density_sha256", "b_aux_density_sha256", "terms", "longest"]:
        assert got[key] == want[key], key


def test_witness():
    unpack("sectors/v11-101/c1.json.zst", "c1.json")
    want = json.load(open(VECTORS + "/witness/v11-101/witness-0.json"))["witness"]
    got = cuzk("witness", "--c1", "c1.json", "--chunks", "w", "--json").json()["witness"]
    assert len(got) == 1
    for key, value in want.items():
        assert got[0][key] == value, key
    for name in ["aux", "a", "b", "c"]:
        assert len(read(f"w-0.{name}.chunks")) % 65 == 0
    cuzk("witness", "--c1", "c1.json", "--partition", "1", code=2).says("the proof has 1")


def test_inputs():
    for registered in ["StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1", "StackedDrg512MiBV1_1",
                       "StackedDrg32GiBV1_1", "StackedDrg64GiBV1_1_Feat_SyntheticPoRep"]:
        path = unpack(f"statements/{registered}.json.zst", "statements.json")
        doc = json.load(open(path))
        for s in doc["statements"][:1 if SANITIZED else 3]:
            meta = {k: s[k] for k in ["prover_id", "sector_number", "ticket", "seed", "comm_d",
                                      "comm_r"]}
            meta["registered_proof"] = doc["registered_proof"]
            write("meta.json", json.dumps(meta))
            got = cuzk("inputs", "meta.json", "--json").json()
            assert got["sha256_all"] == s["sha256_all"]
            assert got["first_partition"] == s["first_partition"] == got["public_inputs"][0]
            assert got["inputs_per_partition"] == s["inputs_per_partition"]
            assert got["partitions"] == s["partitions"] == len(got["public_inputs"])
    doc = json.load(open(unpack(
        "statements/StackedDrg2KiBV1_2_Feat_NonInteractivePoRep.json.zst", "ni.json")))
    meta["registered_proof"] = doc["registered_proof"]
    write("meta.json", json.dumps(meta))
    cuzk("inputs", "meta.json", code=2).says("NonInteractive")
    for change, text in [({"registered_proof": "StackedDrg3KiBV1"}, "registered_proof"),
                         ({"comm_r": "00" * 31}, "comm_r"), ({"comm_d": "ff" * 32}, "comm_d"),
                         ({"sector_number": -1}, "sector_number"), ({"ticket": None}, "ticket"),
                         ({"seed": 7}, "seed")]:
        good = {k: v for k, v in meta.items() if k != "registered_proof"}
        write("bad.json", json.dumps({"registered_proof": "StackedDrg2KiBV1_1", **good, **change}))
        cuzk("inputs", "bad.json", code=2).says("bad.json").says(text)


def test_mock_sector():
    r = cuzk("mock-sector", "porep-2KiB", "--seed", "5", "--out", "c1.json", "--statement",
             "meta.json", "--json").json()
    cuzk("mock-sector", "porep-2KiB", "--seed", "5", "--out", "again.json")
    cuzk("mock-sector", "porep-2KiB", "--seed", "6", "--out", "other.json")
    assert read("c1.json") == read("again.json") != read("other.json")
    assert cuzk("inspect", "c1.json", "--full", "--json").json()["hashes"] == "all hold"
    inputs = cuzk("inputs", "meta.json", "--json").json()
    witness = cuzk("witness", "--c1", "c1.json", "--json").json()["witness"][0]
    assert inputs["public_inputs"][0] == witness["inputs"][1:]
    assert inputs["comm_r"] == r["comm_r"]
    if not SANITIZED:
        r = cuzk("mock-sector", "porep-32GiB", "--seed", "1", "--out", "c1-32.json", "--json")
        assert r.peak < 1 << 20, f"{r.peak} KiB"
        assert os.path.getsize("c1-32.json") > 30_000_000
        assert cuzk("inspect", "c1-32.json", "--json").json()["challenges"] == 180


def test_bad_sectors():
    """Each way in which a C1 can be wrong, by the JSON path that the error must name."""
    good = json.load(open(unpack("sectors/v11-101/c1.json.zst", "good.json")))
    other = json.load(open(unpack("sectors/v11-102/c1.json.zst", "other.json")))
    wrapped = json.load(open(unpack("sectors/v11-101/c1-wrapped.json.zst", "wrapped.json")))

    def proof(c):
        return c["vanilla_proofs"]["StackedDrg2KiBV1"][0]

    def bump(path):
        def change(c):
            at = c
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] ^= 1
        return change

    def swap(c):
        c["comm_r"], c["comm_d"] = c["comm_d"], c["comm_r"]

    def big(c):
        c["comm_r"][0] = 256

    def order(c):
        c["comm_d"] = list(R.to_bytes(32, "little"))

    def missing(c):
        del proof(c)[0]["encoding_proof"]

    def extra(c):
        c["surprise"] = 1

    def version(c):
        c["registered_proof"] = "StackedDrg8MiBV1_1"

    first = ["vanilla_proofs", "StackedDrg2KiBV1", 0, 0]
    cases = [
        (swap, "comm"), (big, "comm_r[0]"), (order, "comm_d"), (missing, "encoding_proof"),
        (extra, "surprise"), (version, ""),
        (bump(["seed", 0]), "challenge"),
        (bump(["comm_r", 0]), "comm_r"),
        (bump(first + ["replica_column_proofs", "c_x", "column", "rows", 0, 3]),
         "vanilla_proofs.StackedDrg2KiBV1[0][0]"),
        (bump(first + ["replica_column_proofs", "drg_parents", 2, "inclusion_proof", "data",
                       "Single", "path", "path", 0, "hashes", 1, 5]),
         "vanilla_proofs.StackedDrg2KiBV1[0][0]"),
        (bump(first + ["comm_d_proofs", "data", "Single", "path", "path", 1, "hashes", 0, 5]),
         "vanilla_proofs.StackedDrg2KiBV1[0][0]"),
        (bump(first + ["comm_r_last_proof", "data", "Single", "leaf", 5]),
         "vanilla_proofs.StackedDrg2KiBV1[0][0]"),
        (lambda c: c.update(vanilla_proofs=other["vanilla_proofs"]), ""),
        (lambda c: c.update(replica_id=other["replica_id"]), ""),
        (lambda c: c.update(comm_d=other["comm_d"]), "comm_d"),
    ]
    cuzk("witness", "--c1", "good.json")
    for i, (change, text) in enumerate(cases):
        c = json.loads(json.dumps(good))
        change(c)
        write("bad.json", json.dumps(c))
        for line in [["witness", "--c1", "bad.json"],
                     ["prove", "--params", KEYS + "toy5.params", "--c1", "bad.json", "--out", "p"]]:
            if line[0] == "prove" and i >= 6:
                continue  # what reading does not see comes after the key
            cuzk(*line, code=2).says("bad.json").says(text)
        r = cuzk("inspect", "bad.json", "--full", "--json", code=1).json()
        assert text in r["fault"]["message"], (text, r)
    wrapped["Phase1Out"] = wrapped["Phase1Out"][:-8] + "!!!!" + wrapped["Phase1Out"][-4:]
    write("bad.json", json.dumps(wrapped))
    cuzk("inspect", "bad.json", code=1).says("Phase1Out")


def test_owner():
    unpack("sectors/v11-101/c1.json.zst", "c1.json")
    meta = json.load(open(VECTORS + "/sectors/v11-101/meta.json"))
    miner, sector = meta["actor_id"], meta["sector_number"]
    proofs = json.load(open(KEYS + "porep-2KiB-dev.json"))["proofs"]
    vk = KEYS + "porep-2KiB-dev.vk"
    write("p.bin", bytes.fromhex(next(p["proof"] for p in proofs if p["c1"] == "v11-101")))
    for source in [["--c1", "c1.json"], ["--statement", VECTORS + "/sectors/v11-101/meta.json"]]:
        line = ["verify", "--vk", vk, "--proof", "p.bin"] + source
        r = cuzk(*line, "--json").json()
        assert r["verdict"] == "valid"
        assert r["miner_and_sector_checked"] == (source[0] == "--statement")
        if source[0] == "--c1":
            cuzk(*line).says("were not checked")
        r = cuzk(*line, "--miner", miner, "--sector", sector, "--json").json()
        assert r["miner_and_sector_checked"]
        cuzk(*line, "--miner", miner + 1, "--sector", sector, code=1).says("not valid")
        cuzk(*line, "--miner", miner, "--sector", sector + 1, code=1).says("not valid")
    # proofs of other sectors, and other statements
    for other in ["v11-102", "v1-201"]:
        write("q.bin", bytes.fromhex(next(p["proof"] for p in proofs if p["c1"] == other)))
        cuzk("verify", "--vk", vk, "--proof", "q.bin", "--statement",
             f"{VECTORS}/sectors/{other}/meta.json")
        cuzk("verify", "--vk", vk, "--proof", "q.bin", "--c1", "c1.json", code=1)
        cuzk("verify", "--vk", vk, "--proof", "p.bin", "--statement",
             f"{VECTORS}/sectors/{other}/meta.json", code=1)
    cuzk("verify", "--vk", KEYS + "toy5.vk", "--proof", "p.bin", "--c1", "c1.json",
         code=2).says("another circuit")
    cuzk("prove", "--params", KEYS + "toy5.params", "--c1", "c1.json", "--out", "x", "--miner",
         miner + 1, "--sector", sector, code=2).says("replica_id")


def test_export():
    vk = read(KEYS + "toy5.vk")
    proof = bytes.fromhex(proof_of("toy5")["proof"])
    write("p.bin", proof * 3)
    r = cuzk("export", "--vk", KEYS + "toy5.params", "--proof", "p.bin", "--r1cs",
             KEYS + "toy5.r1cs.zst", "--out", ".", "--json").json()
    assert r["files"] == ["./verification_key.json", "./proof-0.json", "./proof-1.json",
                          "./proof-2.json", "./public-0.json"]
    j = json.load(open("verification_key.json"))
    assert (j["protocol"], j["curve"], j["nPublic"]) == ("groth16", "bls12381", 2)
    g1 = lambda at: [str(int.from_bytes(vk[at:at + 48], "big")),
                     str(int.from_bytes(vk[at + 48:at + 96], "big")), "1"]
    n = lambda at: str(int.from_bytes(vk[at:at + 48], "big"))
    assert j["vk_alpha_1"] == g1(0)
    assert j["IC"] == [g1(868), g1(964), g1(1060)]
    # the file has c1 before c0, snarkjs the other way
    for name, at in [("vk_beta_2", 192), ("vk_gamma_2", 384), ("vk_delta_2", 672)]:
        assert j[name] == [[n(at + 48), n(at)], [n(at + 144), n(at + 96)], ["1", "0"]], name
    assert json.load(open("public-0.json")) == [
        str(int.from_bytes(bytes.fromhex(x), "little")) for x in proof_of("toy5")["public_inputs"]]
    assert set(json.load(open("proof-2.json"))) == {"pi_a", "pi_b", "pi_c", "protocol", "curve"}
    cuzk("export", "--proof", "p.bin", "--partition", "3", "--out", ".", code=2).says("it has 3")
    cuzk("export", "--proof", "p.bin", "--partition", (1 << 64) - 1, "--out", ".",
         code=2).says("it has 3")
    cuzk("export", "--proof", "p.bin", "--out", "/nonexistent", code=2).says("/nonexistent")
    r = cuzk("export", "--statement", VECTORS + "/sectors/mock32-3201/meta.json", "--out", ".",
             "--json").json()
    assert len(r["files"]) == 10


def main():
    tests = {k: v for k, v in globals().items() if k.startswith("test_")}
    names = sys.argv[3:] or list(tests)
    passed = failed = 0
    for name in names:
        folder = tempfile.mkdtemp(prefix="cuzk-cli-")
        os.chdir(folder)
        try:
            tests[name]()
            passed += 1
            print(f"ok {name}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        finally:
            os.chdir("/")
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


sys.exit(main())
