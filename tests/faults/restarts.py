# SPDX-License-Identifier: Apache-2.0
"""Fifty recordings of one job, whose recorder is ended, killed while the job works, or left to itself with another that begins: a job that
records itself (npumem_start), and one whose steps are recorded (npumem-record, always into the same file). Nothing grows: descriptors, threads and
mappings of the job, folders of rings, processes. What was acknowledged is at most what is ingested or counted as lost, each time."""
import os
import signal
import subprocess
import time

from trial import IS_WHOLE, begin, check_recorded, clear, content, expect, finish, leave_out, paths, run, told

ROUNDS = 500 if IS_WHOLE else 30  # of the job that records itself
STEPS = 200 if IS_WHOLE else 20
THREADS, PROCESSES, EVENTS, PACE_US = 3, 2, 400, 300
WARM_UP = 4  # rounds after which what is filled once is full
SHARED_KIB, THREAD_KIB = 12, 32  # that a recording leaves in its process, at most: its session, and what each thread knows of stacks


class Job:
    def __init__(self):
        words = [paths.restarts, str(THREADS), str(PROCESSES), str(EVENTS), str(PACE_US)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def held(self):
        """Descriptors, threads, and KiB of memory of its own and of rings."""
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            kib = {line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith("Rss")}
        return len(os.listdir(f"/proc/{self.pid}/fd")), len(os.listdir(f"/proc/{self.pid}/task")), kib["RssAnon"], kib["RssShmem"]

    def end(self):
        self.process.stdin.close()
        expect(self.process.wait(timeout=60) == 0, f"the job ends with {self.process.returncode}")


def recorder_of(folder):
    """By the folder that its command line names."""
    for _ in range(400):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = content(f"/proc/{pid}/cmdline").split(b"\0")
            except OSError:
                continue
            if folder.encode() in words and os.path.basename(words[0]) == b"npumem-record":
                return int(pid)
        time.sleep(0.01)
    return 0


def is_alive(pid):
    try:
        return content(f"/proc/{pid}/stat").rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def wait_until(is_so, seconds=20):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


def loaded(what, trace, statuses=(0,)):
    status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", trace)
    expect(status in statuses, f"{what}: npumem-ingest ends with {status}: {err}")
    return check_recorded(what, "t.db", told("ack"), may_be_open=False)


def one_round(job, number, random):
    """Gives the events that were acknowledged, and those of them that are lost and counted."""
    kind = ("stopped", "killed, and joined", "stopped", "killed, and read", "ended")[number % 5]
    what, trace = f"round {number}, {kind}", os.path.abspath(f"t{number}.zst")
    said = job.tell(f"start {trace} ack")
    if not expect(said.startswith("started /"), f"{what}: {said}"):
        return 0, 0
    folder = said.split(" ", 1)[1]
    recorder = recorder_of(folder)
    expect(recorder > 0, f"{what}: nobody drains {folder}")
    job.tell("work")
    time.sleep(random.uniform(0.002, 0.03))
    if kind != "stopped":
        os.kill(recorder, signal.SIGTERM if kind == "ended" else signal.SIGKILL)
    expect(job.tell("wait") == "worked", f"{what}: the job does not work")
    stopped = job.tell("stop").split()
    expect(stopped[:1] == ["stopped"] and stopped[2:] == ["0"] and (kind != "stopped" or stopped[1] == "0"), f"{what}: {stopped}")
    expect(wait_until(lambda: not is_alive(recorder)), f"{what}: the recorder is still there")
    if kind == "killed, and joined":
        status, _, err = run(paths.record, "--finish", trace)
        expect(status in (0, 3), f"{what}: --finish ends with {status}: {err}")
    lost = loaded(what, trace, (0, 3) if kind != "stopped" else (0,)) if kind != "ended" else loaded_in_part(what, trace)
    if kind == "killed, and read":
        run(paths.record, "--finish", trace)
    expect(not os.path.exists(folder), f"{what}: left: {folder}")
    clear(trace)
    return sum(map(sum, told("ack"))), lost


def loaded_in_part(what, trace):
    """What the job recorded after the recorder had been asked to end was not to be recorded: no more than is acknowledged is there."""
    status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", trace)
    expect(status in (0, 3), f"{what}: npumem-ingest ends with {status}: {err}")
    return 0


def a_job_that_records_itself(random):
    job, acknowledged, lost, held = Job(), 0, 0, []
    for number in range(ROUNDS):
        told_now, lost_now = one_round(job, number, random)
        acknowledged, lost = acknowledged + told_now, lost + lost_now
        held.append(job.held())
    rounds = len(held) - WARM_UP
    for what, column, most in (("descriptors", 0, 0), ("threads", 1, 0), ("KiB of its own", 2, THREAD_KIB * THREADS), ("KiB of rings", 3, SHARED_KIB)):
        grown = held[-1][column] - max(one[column] for one in held[:WARM_UP])
        expect(grown <= most * rounds, f"the job has {grown} {what} more after {rounds} recordings: {held}")
    job.end()
    print(f"{ROUNDS} recorders of one job: {acknowledged} events acknowledged, {lost} of them lost and counted; it holds {held[-1]} at the end")


# ---- Steps of a job, each recorded into the same file ----


def bytes_in(folder):
    return sum(os.lstat(os.path.join(below, name)).st_size for below, _, names in os.walk(folder) for name in names)


def one_step(number, random):
    """Every second recorder is killed, before its program ends or with it."""
    what, keep = f"step {number}", ["--keep", "last:64KiB"] if number % 4 >= 2 else []
    clear("ack")
    words = [paths.record, "-q", "--force", *keep, "--ring-dir", os.path.abspath("rings"), "-o", "step.zst", "--", paths.spin_events, "--events",
             "4000", "--pace-ns", "10000", "--threads", "2", "--ack", "ack"]
    recorder = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    if number % 2 == 0:
        said = recorder.communicate(timeout=60)[1]
        expect(recorder.returncode == 0, f"{what}: ends with {recorder.returncode}: {said}")
    else:
        wait_until(lambda: len(told("ack")) == 2 and told("ack")[0][0] > 10)
        time.sleep(random.uniform(0, 0.03))
        recorder.kill()
        recorder.wait()
        recorder.stderr.close()
        wait_until(lambda: told("ack") and all(one == (4000, 4000) for one in told("ack")))
    lost = check_step(what)
    return sum(map(sum, told("ack"))), lost


def check_step(what):
    for _ in range(100):  # its program ends a moment after its last event
        status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "t.db", "step.zst")
        if status != 3 or "still runs" not in err:
            break
        time.sleep(0.05)
    expect(status in (0, 3), f"{what}: npumem-ingest ends with {status}: {err}")
    return check_recorded(what, "t.db", told("ack"), may_be_open=False, others_most=1 << 20)


def a_job_of_recorded_steps(random):
    acknowledged, lost, folders, most_bytes = 0, 0, [], []
    for number in range(STEPS):
        told_now, lost_now = one_step(number, random)
        acknowledged, lost = acknowledged + told_now, lost + lost_now
        folders.append(len(os.listdir("rings")))
        most_bytes.append(bytes_in("rings"))
    expect(max(folders) <= 2, f"folders of rings: {folders}")  # of one file, and of one in parts
    expect(max(most_bytes[WARM_UP:]) <= 2 * max(most_bytes[:WARM_UP]), f"bytes of rings: {most_bytes}")
    for name in ("step.zst", "step.zst.000"):
        if os.path.exists(name):
            run(paths.record, "--finish", name)
    run(paths.record, "-q", "--force", "--keep", "last:64KiB", "--ring-dir", os.path.abspath("rings"), "-o", "step.zst", "--", "true")
    expect(not os.listdir("rings"), f"left: {os.listdir('rings')}")
    print(f"{STEPS} recorded steps into one name: {acknowledged} events acknowledged, {lost} lost or no longer kept; rings of {max(folders)} at most")


seeded = begin()
leave_out(f"{ROUNDS} of 500 recorders of a job and {STEPS} of 200 of its steps")
os.mkdir("rings")
a_job_that_records_itself(seeded)
a_job_of_recorded_steps(seeded)
finish()
