#!/usr/bin/env python3
"""Mutates the files that Orrery reads and puts them through the command line: README.md beside it says more."""

import argparse
import glob
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
FINDINGS = os.path.join(HERE, "findings")
CORPUS = os.path.join(HERE, "corpus")

# kind: (seeds, command; `@` is the file, `@FOLDER` the one that it lies in, `@LIST` a list of kernels beside it that names
# it, `@QUESTION` a question about serving whose traffic it is, `@TOP` a copy of corpus/<kind> in which it has changed,
# `OUT` a folder that is thrown away; whether an answer may take long).
# Kinds have the names of the folders of tests/data/bad, so that a finding moves there as it is.
READERS = {
    "hardware": (["presets/hardware/*.yaml", "tests/data/hardware/*"], ["hardware", "@"], False),
    "project": (["presets/examples/*.yaml", "tests/data/projects/*", "presets/lessons/*.yaml"], ["project", "@"], False),
    "study": (["presets/examples/*.yaml"], ["study", "@", "--out", "OUT"], True),
    "serving": (["presets/examples/*serving*.yaml", "presets/examples/*vllm*.yaml", "presets/serving/*.yaml"],
                ["serve", "@"], True),
    "search": (["presets/searches/*.yaml"], ["search", "@", "--evaluations", "2"], True),
    "workload": (["tests/data/huggingface/*/config.json", "tests/data/ncnn/*.param", "tests/data/timeloop/*"],
                 ["import", "@"], False),
    "onnx": (["presets/examples/models/*.onnx", "/usr/share/libonnx-testdata/data/simple/*/*.onnx"],
             ["import", "@"], False),
    "ncnn": (["tests/data/ncnn/*.param"], ["import", "@"], False),
    "references": (["tests/data/parquet/*", "presets/references/*.csv", "presets/references/*.yaml"],
                   ["evaluate", "--method", "roofline", "--references", "@"], True),
    "import-description": (["presets/references/import/*.yaml"],
                           ["references", "--import", "@", DATA + "/parquet/table.csv"], False),
    "calibration": (["tests/data/calibration/*.json"],
                    ["evaluate", "--method", "booster", "--calibration", "@", "--references", "none.csv"], False),
    "timeloop": (["tests/data/timeloop/*"], ["map", "--timeloop", "@"], True),
    "maestro": (["tests/data/maestro/network.m"],
                ["map", "--maestro", "@", "--maestro-hardware", DATA + "/maestro/hardware.m"], True),
    "maestro-hardware": (["tests/data/maestro/hardware.m"],
                         ["map", "--maestro", DATA + "/maestro/network.m", "--maestro-hardware", "@"], True),
    "scalesim": (["tests/data/scalesim/*.cfg"],
                 ["array", "--config", "@", "--topology", DATA + "/scalesim/gemm.csv", "--gemm"], True),
    "scalesim-topology": (["tests/data/scalesim/*.csv"],
                          ["array", "--config", DATA + "/scalesim/os.cfg", "--topology", "@", "--gemm"], True),
    "core": (["presets/cores/*.yaml"], ["block", "--core", "@", "--hex", "4801d8480fafc3"], False),
    "uops": (["presets/cores/zen.csv"], ["block", "--core", "zen", "--hex", "4801d8", "--uops", "@"], False),
    "pipeline": (["presets/pipelines/*.yaml"], ["core", "--core", "@", "--kernel", "gemm m=16 n=16 k=16 avx2"], True),
    "training-cases": (["tests/data/training/*.yaml", "presets/training/*.yaml"], ["train", "--cases", "@"], True),
    "adapter": (["presets/adapters/*.yaml"], ["adapters", "@"], False),
    "gpu-trace": (["tests/data/gpu/*/kernel-*.traceg", "tests/data/bad/gpu/traces/*"],
                  ["gpu", "--traces", "@LIST", "--config", DATA + "/gpu/small"], True),
    "gpu-list": (["tests/data/gpu/*/kernelslist.g", "tests/data/bad/gpu/lists/*.g"],
                 ["gpu", "--traces", "@", "--config", DATA + "/gpu/small"], True),
    "gpu-config": (["tests/data/gpu/*/gpgpusim.config", "tests/data/bad/gpu/configs/*/*"],
                   ["gpu", "--traces", DATA + "/gpu/add/kernelslist.g", "--config", "@FOLDER"], True),
    "serving-trace": (["tests/fuzz/corpus/serving-trace/*"], ["serve", "@QUESTION"], True),
    "training-trace": (["tests/fuzz/corpus/training-trace/*"], ["train", "--trace", "@", "--ranks", "2"], True),
    "astra": (["tests/fuzz/corpus/astra/*", "tests/fuzz/corpus/astra/et/*"], ["train", "--astra", "@TOP"], True),
    "dram-config": (["tests/fuzz/corpus/dram-config/*"],
                    ["dram", "--config", "@", "--trace", CORPUS + "/dram-trace/mixed.trace"], True),
    "dram-trace": (["tests/fuzz/corpus/dram-trace/*"],
                   ["dram", "--config", CORPUS + "/dram-config/ddr4.yaml", "--trace", "@"], True),
    "tuning-log": (["tests/fuzz/corpus/tuning-log/*"], ["schedules", "@"], True),
    "tuning-log-shown": (["tests/fuzz/corpus/tuning-log/*"], ["schedules", "@", "--show", "1"], True),
    "edge-table": (["tests/fuzz/corpus/edge-table/*"], ["edge", "@", "--samples", "5"], True),
    "edge-beside": (["tests/fuzz/corpus/edge-table/*"],
                    ["edge", CORPUS + "/edge-table/names.csv", "--beside", "@", "--samples", "5"], True),
    "edge-measured": (["tests/fuzz/corpus/edge-measured/*"],
                      ["edge", CORPUS + "/edge-table/names.csv", "--next", "4", "--measured", "@"], True),
    "counters": (["tests/fuzz/corpus/counters/*"], ["power", "--counters", "@"], False),
    "designs": (["tests/fuzz/corpus/designs/*"], ["surrogate", "@", "--target", "Latency", "--out", "-"], True),
    "surrogate": (["tests/fuzz/corpus/surrogate/*"],
                  ["surrogate", "@", "--rows", CORPUS + "/designs/designs.csv", "--csv", "-"], True),
    "pim-upmem": (["tests/fuzz/corpus/pim-upmem/*"], ["pim", "--upmem", "--csv", "@"], True),
    "pim-attacc": (["tests/fuzz/corpus/pim-attacc/*"], ["pim", "--attacc", "--csv", "@"], True),
    "sparse": (["tests/fuzz/corpus/sparse/*"],
               ["map", "--hardware", "eyeriss-like", "--workload", "kernel:gemm m=64 n=64 k=64 dtype=int16", "--sparse",
                "@"], True),
    "vidur": (["tests/fuzz/corpus/vidur/*", "tests/fuzz/corpus/vidur/tables/*"],
              ["serve", "--vidur", "@TOP", "--tables", "@TOP/tables"], True),
    "llmservingsim": (["tests/fuzz/corpus/llmservingsim/*", "tests/fuzz/corpus/llmservingsim/*/*",
                       "tests/fuzz/corpus/llmservingsim/*/*/*"],
                      ["serve", "--llmservingsim", "@TOP", "--tables", "@TOP/tables"], True),
    "splitwise": (["tests/fuzz/corpus/splitwise/*"],
                  ["serve", "--splitwise", "@TOP", "--tables", "@TOP/perf_model.csv"], True),
    "distserve": (["tests/fuzz/corpus/distserve/*"], ["serve", "--distserve", "@TOP", "--tables", "@TOP"], True),
}
QUESTION = """orrery: serving/1
hardware: h100-sxm
model: {source: llama-3-8b}
traffic: {requests: 50, arrivals: {kind: trace}, prompt: {kind: trace}, output: {kind: trace}, trace: {file: "%s"}}
"""
NUMBERS = [b"0", b"-1", b"1e308", b"-0.0", b"nan", b"9223372036854775807", b"18446744073709551616", b"1e-320", b"0x7f",
           b"3.5", b"", b"999999999", b"2147483648", b"1000000000000000000", b"1e18"]
TOKENS = [b"\0", b"\xff\xfe", b"\xf0\x9f\x92\xa9", b"*a", b"&a", b"<<: *a", b"!!binary", b"{", b"[", b"]", b"}", b"---\n",
          b"\r", b"\t", b"'", b'"', b",", b":", b"%s%n", b"../../../etc/passwd", b"null", b"~", b"true"]


def seed_name(kind, file):
    """The name under which its reader looks for a file: in a folder of its own it is a fixed one."""
    return "gpgpusim.config" if kind == "gpu-config" else os.path.basename(file)


def of_folder(kind):
    return any(word.startswith("@TOP") for word in READERS[kind][1])


def place_of(kind, seed, work):
    """Where the reader finds the seed's place in `work`: beside the rest of its folder, where it reads one."""
    if not of_folder(kind):
        return os.path.join(work, seed_name(kind, seed))
    top = os.path.join(work, kind)
    if not os.path.isdir(top):
        shutil.copytree(os.path.join(CORPUS, kind), top)
    return os.path.join(top, os.path.relpath(seed, os.path.join(CORPUS, kind)))


def put_back(kind, seed, file):
    """After a run: nothing of it is left for the next."""
    if of_folder(kind):
        shutil.copy(seed, file)
    else:
        os.remove(file)


def top_of(kind, file):
    parts = file.split(os.sep)
    return os.sep.join(parts[:parts.index(kind) + 1]) if kind in parts else os.path.dirname(file)


def mutated(rng, seed, others):
    """One to eight small changes, or rarely a large one; never more than 4 MB."""
    data = bytearray(seed)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5, 8])):
        how = rng.randrange(11)
        at = rng.randrange(len(data) + 1)
        if how == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1 and data:
            data[at % len(data)] = rng.randrange(256)
        elif how == 2:
            del data[at:at + rng.choice([1, 2, 4, 16, 64, 1024])]
        elif how == 3:
            piece = data[at:at + rng.choice([1, 4, 32, 256])]
            data[at:at] = piece * rng.choice([1, 2, 50])
        elif how == 4:
            data[at:at] = rng.choice(TOKENS)
        elif how == 5:
            numbers = list(re.finditer(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", bytes(data)))
            if numbers:
                one = rng.choice(numbers)
                data[one.start():one.end()] = rng.choice(NUMBERS)
        elif how == 6:
            lines = bytes(data).split(b"\n")
            line = rng.randrange(len(lines))
            change = rng.randrange(4)
            if change == 0:
                del lines[line]
            elif change == 1:
                lines.insert(line, lines[rng.randrange(len(lines))] if lines else b"")
            elif change == 2:
                lines[line] = b"  " * rng.randrange(6) + lines[line].strip()
            else:
                lines[line] = lines[line] + b" #"
            data = bytearray(b"\n".join(lines))
        elif how == 7:
            del data[at:]
        elif how == 8 and others:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            data[at:at] = other[begin:begin + rng.choice([8, 64, 512])]
        elif how == 9 and rng.random() < 0.1:
            data[at:at] = rng.choice([b"[", b"{a: ", b"(", b"- "]) * rng.choice([100, 10000])
        elif how == 10:
            words = list(re.finditer(rb"[A-Za-z_][\w-]*", bytes(data)))
            if len(words) > 1:
                one, two = rng.choice(words), rng.choice(words)
                data[one.start():one.end()] = two.group()
    return bytes(data[:4 << 20])


def limits(sanitized, patience):
    def apply():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Of the processor: a machine that is busy with other things makes no file hang.
        resource.setrlimit(resource.RLIMIT_CPU, (patience, patience + 1))
        if not sanitized:  # sanitizers reserve more addresses than there is memory
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    return apply


def complaint(program, kind, file, patience, sanitized, slow):
    """What is wrong with how the program takes the file; None if nothing, `slow` if an honest answer took too long."""
    command = READERS[kind][1]
    out = tempfile.mkdtemp(prefix="orrery-fuzz-out-")
    environment = dict(os.environ, ORRERY_CONFIG_HOME=out, NO_COLOR="1",
                       ASAN_OPTIONS="detect_leaks=0:exitcode=99:hard_rss_limit_mb=4096:allocator_may_return_null=0",
                       UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:exitcode=99")
    folder = os.path.dirname(file)
    names = {"@": file, "OUT": out, "@FOLDER": folder, "@LIST": os.path.join(folder, "kernelslist.g")}
    if "@LIST" in command:
        with open(names["@LIST"], "w") as listed:
            listed.write(os.path.basename(file) + "\n")
    if "@QUESTION" in command:
        names["@QUESTION"] = os.path.join(out, "question.yaml")
        with open(names["@QUESTION"], "w") as question:
            question.write(QUESTION % file)
    if of_folder(kind):
        names["@TOP"] = top_of(kind, file)
    words = [program] + [names.get(w, w.replace("@TOP", names.get("@TOP", ""))) for w in command]
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             env=environment, preexec_fn=limits(sanitized, patience), cwd=out)
    try:
        # One that waits for something takes no processor time.
        error = child.communicate(timeout=10 * patience)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return f"it did not end within {10 * patience} s"
    finally:
        shutil.rmtree(out, ignore_errors=True)
    if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and "Sanitizer" not in error:
        return "slow" if slow else f"it did not end within {patience} s of the processor"
    if child.returncode < 0:
        return f"ended by {signal.Signals(-child.returncode).name}\n{error}"
    if child.returncode not in (0, 1, 2):
        return f"ended with {child.returncode}\n{error}"
    for word in ("AddressSanitizer", "runtime error", "bug in Orrery", "terminate called"):
        if word in error:
            return f"{word}\n{error}"
    if child.returncode != 0 and "error: " not in error:
        return f"refused without a word\n{error}"
    return None


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def keep(kind, file, text, wrong):
    """Puts a finding where it can be tried again."""
    folder = os.path.join(FINDINGS, kind)
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, hashlib.sha256(text).hexdigest()[:12] + "-" + os.path.basename(file))
    shutil.copy(file, name)
    with open(name + ".why", "w") as why:
        why.write(wrong)
    print(f"{kind}: {name}: {wrong.splitlines()[0]}", flush=True)


def seeds_of(patterns):
    files = []
    for pattern in patterns:
        files += sorted(glob.glob(pattern if pattern.startswith("/") else os.path.join(ROOT, pattern)))
    return [f for f in files if os.path.isfile(f) and os.path.getsize(f) < 1 << 20 and not f.endswith("README.md")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="orrery-cli, best one of the preset asan")
    parser.add_argument("--seconds", type=float, default=60,
                        help="of the processor, in all, shared by the readers (60)")
    parser.add_argument("--corpus", action="store_true", help="put every file through as it is, and end")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations (1)")
    parser.add_argument("--only", action="append", help="this reader alone; may be repeated")
    parser.add_argument("--patience", type=int, default=20, help="seconds of the processor for one file (20)")
    parser.add_argument("--plain", action="store_true", help="the program has no sanitizers: bound its memory instead")
    parser.add_argument("--again", metavar="KIND:FILE", help="put this one file through its reader and print what is wrong")
    asked = parser.parse_args()
    program = os.path.abspath(asked.program)
    if asked.again:
        kind, file = asked.again.split(":", 1)
        if "@LIST" in READERS[kind][1] or "@FOLDER" in READERS[kind][1]:
            file = shutil.copy(file, os.path.join(tempfile.mkdtemp(prefix="orrery-fuzz-"), seed_name(kind, file)))
        if of_folder(kind):
            # A finding is called by its hash and the name of the file that it stands for.
            name = os.path.basename(file).split("-", 1)[-1]
            seed = next(f for f in seeds_of(READERS[kind][0]) if os.path.basename(f) == name)
            file = shutil.copy(file, place_of(kind, seed, tempfile.mkdtemp(prefix="orrery-fuzz-")))
        wrong = complaint(program, kind, os.path.abspath(file), asked.patience, not asked.plain, False)
        print(wrong or "nothing is wrong")
        return 1 if wrong else 0

    kinds = {k: v for k, v in READERS.items() if not asked.only or k in asked.only}
    state = {}
    for kind, (patterns, _, slow) in kinds.items():
        bad = os.path.join(DATA, "bad", kind)
        files = seeds_of(patterns + ([bad + "/*", bad + "/*/*"] if os.path.isdir(bad) else []))
        if not files:
            print(f"{kind}: no seeds", file=sys.stderr)
            continue
        state[kind] = dict(files=files, texts=[open(f, "rb").read() for f in files], slow=slow, runs=0,
                           slowRuns=0, seconds=0.0, findings=0, rng=random.Random(f"{asked.seed} {kind}"))
    work = tempfile.mkdtemp(prefix="orrery-fuzz-")
    spent = 0.0
    begun = time.monotonic()
    try:
        for kind, now in state.items() if asked.corpus else ():
            for seed, text in zip(now["files"], now["texts"]):
                file = shutil.copy(seed, place_of(kind, seed, work))
                wrong = complaint(program, kind, file, asked.patience, not asked.plain, now["slow"])
                now["runs"] += 1
                if wrong == "slow":
                    now["slowRuns"] += 1
                elif wrong:
                    now["findings"] += 1
                    keep(kind, file, text, wrong)
                put_back(kind, seed, file)
        while spent < asked.seconds and state and not asked.corpus:
            # The reader that had the least time so far.
            kind = min(state, key=lambda k: state[k]["seconds"])
            now = state[kind]
            rng = now["rng"]
            which = rng.randrange(len(now["files"]))
            text = mutated(rng, now["texts"][which], now["texts"])
            file = place_of(kind, now["files"][which], work)
            with open(file, "wb") as out:
                out.write(text)
            begin = processor_seconds()
            wrong = complaint(program, kind, file, asked.patience, not asked.plain, now["slow"])
            # A file that was not even started for lack of processes would be tried for ever.
            took = max(processor_seconds() - begin, 0.01)
            spent += took
            now["seconds"] += took
            now["runs"] += 1
            if wrong == "slow":
                now["slowRuns"] += 1
            elif wrong:
                now["findings"] += 1
                keep(kind, file, text, wrong)
            put_back(kind, now["files"][which], file)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    total = 0
    for kind, now in state.items():
        total += now["findings"]
        print(f"{kind}: {now['runs']} files in {now['seconds']:.0f} s, {now['findings']} findings, "
              f"{now['slowRuns']} answers cut off", flush=True)
    print(f"{sum(s['runs'] for s in state.values())} files, {total} findings, seed {asked.seed}, "
          f"{processor_seconds():.0f} s of the processor in {time.monotonic() - begun:.0f} s")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
