"""Jobs of `garblet_ray` without a cluster: tests errors, kept results and records with a stand-in for Ray."""

from __future__ import annotations

import importlib
import logging
import os
import socket
import stat
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import garblet
import numpy as np
import pytest


#: The package and its part that takes Ray.
MODULES = ("garblet_ray", "garblet_ray.jobs")


class Room:
    """A placement group."""

    def __init__(self, is_free: bool) -> None:
        self.is_free = is_free

    def wait(self, seconds: float) -> bool:
        return self.is_free


class Coming(list[Any]):
    """A pending value, which is a key among running attempts."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class Remote:
    """A function whose calls finish at once."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def options(self, **_: Any) -> Remote:
        return self

    def remote(self, *arguments: Any) -> Coming:
        return Coming([self.function(*arguments)])


def stand_in() -> types.ModuleType:
    """As much of Ray as a job takes."""
    ray: Any = types.ModuleType("ray")
    ray.is_initialized = lambda: True
    ray.cluster_resources = lambda: {"CPU": 4.0}
    ray.remote = Remote
    ray.put = lambda value: value
    ray.get = lambda coming: coming[0]
    ray.wait = lambda coming, num_returns, timeout, fetch_local=True: (coming[:1], coming[1:])
    ray.kill = ray.cancel = lambda *_, **__: None
    ray.get_runtime_context = lambda: types.SimpleNamespace(get_node_id=lambda: "here")
    ray.exceptions = types.SimpleNamespace(RayError=RuntimeError)
    ray.is_free, ray.rooms = True, []

    def placement_group(bundles: list[dict[str, float]]) -> Room:
        ray.rooms.append(bundles)
        return Room(ray.is_free)

    strategies = types.SimpleNamespace(
        NodeAffinitySchedulingStrategy=lambda *_, **__: None, PlacementGroupSchedulingStrategy=lambda *_: None
    )
    ray.util = types.SimpleNamespace(
        scheduling_strategies=strategies,
        placement_group=placement_group,
        remove_placement_group=lambda _: ray.rooms.pop(),
    )
    module: types.ModuleType = ray
    return module


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of jobs, on the stand-in."""
    monkeypatch.setitem(sys.modules, "ray", stand_in())
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(MODULES[-1])
    for name in MODULES:
        del sys.modules[name]


def outcomes(jobs: Any, monkeypatch: pytest.MonkeyPatch, attempt: Callable[[str], Any]) -> None:
    """Sets the outcome of each attempt, and gives the peer the same outcomes as this party."""
    monkeypatch.setattr(jobs, "_attempt", lambda task, door, name, slot, patience, *_: attempt(name))
    monkeypatch.setattr(jobs._Job, "_compare", lambda job, *_: [shard in job._reports for shard in range(job._count)])


def job(jobs: Any, folder: Path, **more: Any) -> list[garblet.Report]:
    """A job of two shards with one row each."""
    program = more.pop("program", garblet.load("lib:millionaires(32)").batch(1))
    given = {
        "shards": 2,
        "party": 0,
        "peer": jobs.Calling("127.0.0.1:1", {}),
        "session": "risk-7f3a9c",
        "identity": "identity.pem",
        "records": folder / "records",
        **more,
    }
    table = given.pop("table", {"alice": np.array([5, 3], dtype=np.uint32)})
    reports: list[garblet.Report] = jobs.map(program, table, **given)
    return reports


def report() -> garblet.Report:
    return garblet.run_local(garblet.load("lib:millionaires(32)").batch(1), [{"alice": [5]}, {"bob": [3]}])[0]


def test_workers_without_the_package_are_told_which_file_to_install(jobs: Any) -> None:
    missing = jobs._without_package(RuntimeError("No module named 'garblet_ray'"))
    assert missing.hint.endswith(f": pip install ./garblet_ray-{garblet.__version__}-py3-none-any.whl")
    assert jobs._without_package(RuntimeError("No module named 'pandas'")) is None


@pytest.mark.parametrize("index", [[0, 1, 2, 3], [9, 8, 7, 6], ["a", "b", "c", "d"], [0, 0, 0, 0], [0.0, 1.0, 2.0, 3.0], [3.5, 2.5, 1.5, 0.5]])
def test_frames_of_pandas_are_cut_by_place_whatever_their_index(jobs: Any, index: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"alice": np.array([1, 2, 3, 4], dtype=np.uint32)}, index=index)
    program = garblet.load("lib:millionaires(32)").batch(2)
    parts = [[1, 2], [3, 4]]
    arrays = [{"alice": np.array(part, dtype=np.uint32)} for part in parts]
    assert jobs._frozen(program, frame, 2, 0) == jobs._frozen(program, arrays, 2, 0)
    with pytest.raises(garblet.UsageError, match="4 rows cannot be cut into 3 shards"):
        jobs._frozen(program, frame, 3, 0)


def test_columns_go_by_place_also_where_brackets_go_by_label(jobs: Any) -> None:
    class Labelled(np.ndarray[Any, Any]):
        """A column like one of pandas before 3 with a float index: slices go by label and include the last one."""

        @property
        def iloc(self) -> Any:
            return self.view(np.ndarray)

        def __getitem__(self, at: Any) -> Any:
            return self.iloc[at.start : at.stop + 1]

    column = np.array([1, 2, 3, 4], dtype=np.uint32).view(Labelled)
    parts = jobs._cut({"alice": column}, 2)
    assert [part["alice"].tolist() for part in parts] == [[1, 2], [3, 4]]


def test_a_program_with_a_mask_has_one_attempt(jobs: Any, tmp_path: Path) -> None:
    program = garblet.load("lib:add(8)").masked("sum", 0).batch(1)
    table = [{"a": [1], "sum_mask": [3]}, {"a": [2], "sum_mask": [4]}]
    with pytest.raises(garblet.UsageError, match="attempts: expected 1 for a program with a masked output, got 3"):
        job(jobs, tmp_path, program=program, table=table)


def test_columns_of_one_name_are_refused(jobs: Any) -> None:
    pandas = pytest.importorskip("pandas")
    for table in ({1: [1, 2], "1": [3, 4]}, pandas.DataFrame([[1, 2]], columns=["1", 1]), pandas.DataFrame([[1, 2]], columns=["1", "1"])):
        with pytest.raises(garblet.UsageError, match="table: expected columns of different names, got 1, 1"):
            jobs._cut(table, 1)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_others_are_cut_alike(jobs: Any, library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"alice": np.array([1, 2, 3, 4], dtype=np.uint32)}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    program = garblet.load("lib:millionaires(32)").batch(2)
    assert jobs._frozen(program, frame, 2, 0) == jobs._frozen(program, columns, 2, 0)


def by_key(shards: int = 2, seed: str = "drawn when both tables were fixed") -> tuple[garblet.Sharding, garblet.Program]:
    """How two tables are cut by key, and the program that joins their shards."""
    sharding = garblet.Sharding(shards=shards, rows={"a": 9, "b": 12}, seed=seed)
    return sharding, garblet.load("lib:intersection-sum({a},{b},16,16)".format(**sharding.room))


def test_tables_that_are_cut_by_key_are_the_inputs_of_shards(jobs: Any) -> None:
    sharding, program = by_key(3)
    own = sharding.cut("a", np.array([7, 3, 5, 4], dtype=np.int64))
    frozen = jobs._frozen(program, own, 3, 0, sharding)
    assert frozen == jobs._frozen(program, list(own), 3, 0, sharding) == jobs._frozen(program, [{"a": list(part["a"])} for part in own], 3, 0)
    theirs = sharding.cut("b", {"key": [7, 9], "value": [1, 2]}, key="key")
    assert len(jobs._frozen(program, theirs, 3, 1, sharding)) == 3


def test_a_table_goes_with_the_agreement_by_which_it_was_cut(jobs: Any) -> None:
    sharding, program = by_key(3)
    own = sharding.cut("a", [7, 3, 5, 4])
    for table, agreed, words in (
        (own, None, "expected the sharding by which the table was cut"),
        (own, by_key(3, "another one, by mistake")[0], "expected the sharding by which the table was cut"),
        ({"a": [1, 2, 3]}, sharding, "table: expected the inputs of each shard, got a dict"),
        (list(own)[:2], sharding, "table: expected 3 shards, got 2"),
    ):
        with pytest.raises(garblet.UsageError, match=words):
            jobs._frozen(program, table, 3, 0, agreed)
    other = garblet.load("lib:intersection-sum(9,11,16,16)")
    with pytest.raises(garblet.UsageError, match="input `.`: expected a list of at most [0-9]+ rows, the room of a shard"):
        jobs._frozen(other, own, 3, 0, sharding)


def test_both_parties_compare_how_they_cut(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    compared = []
    monkeypatch.setattr(jobs, "_status", lambda agreed, count: compared.append(agreed))
    for number, seed in enumerate(("drawn when both tables were fixed", "another one, by mistake")):
        sharding, program = by_key(2, seed)
        job(jobs, tmp_path, program=program, table=sharding.cut("a", [7, 3]), shards=sharding, session=f"risk-{number}")
        manifest = (tmp_path / "records" / f"risk-{number}.jsonl").read_text()
        assert compared[-1]["sharding"] == sharding.agreement and sharding.agreement in manifest and seed not in manifest
    assert {**compared[0], "sharding": ""} == {**compared[1], "sharding": ""} and compared[0] != compared[1]


def test_a_value_that_does_not_fit_names_its_shard(jobs: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"alice": pandas.array([1, 2, 3, None], dtype="UInt32")})
    with pytest.raises(garblet.InputError, match="got 1 missing") as caught:
        jobs._frozen(garblet.load("lib:millionaires(32)").batch(2), frame, 2, 0)
    assert "in shard 1" in caught.value.__notes__


@pytest.mark.parametrize(
    "name",
    [
        *("", "../../etc/x", "a/b", "a\\b", ".", "a.b", "a b", "a;b", "Risk", "1a", "a-", "-a", "a" * 41, "é"),
        *("risk\n", "risk\nset server workers/worker addr 10.0.0.1", "risk 127.0.0.1:1; show env", "a\0"),
    ],
)
def test_names_that_would_reach_files_or_the_proxy_are_refused(jobs: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(garblet.UsageError, match="session: expected a letter"):
        job(jobs, tmp_path, session=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "stores", ["/var/lib/garblet", "/var/lib/{node}", "/var/{}/{slot}", "/var/{slot", "/var/{{slot}}", "/{slot.x}"]
)
def test_slots_do_not_share_a_store(jobs: Any, tmp_path: Path, stores: str) -> None:
    with pytest.raises(garblet.UsageError, match="stores: expected a folder for each slot") as caught:
        job(jobs, tmp_path, stores=stores)
    assert "{slot}" in (caught.value.hint or "")


def test_nobody_else_reads_the_records(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    assert [result["alice_richer"] for result in job(jobs, tmp_path)] == [[True], [True]]
    (file,) = (tmp_path / "records").iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert file.name == "risk-7f3a9c.jsonl"
    with pytest.raises(garblet.UsageError, match="risk-7f3a9c has been run"):
        job(jobs, tmp_path)


def test_the_name_of_the_records_is_on_disk_before_anything_is_run(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    folders: list[bool] = []
    monkeypatch.setattr(jobs.os, "fsync", lambda opened: folders.append(stat.S_ISDIR(os.fstat(opened).st_mode)))
    job(jobs, tmp_path)
    assert folders[:3] == [False, True, False] and folders.count(True) == 1


def test_evidence_of_cheating_ends_the_job_and_is_whole(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    evidence = "the peer is corrupted: check of circuits: circuit 3 of run 0, seed 00ff"
    outcomes(jobs, monkeypatch, lambda name: ("CheatingError", evidence, "keep the message") if "-1-" in name else report())
    with caplog.at_level(logging.WARNING, "garblet"), pytest.raises(garblet.CheatingError) as caught:
        job(jobs, tmp_path)
    assert (str(caught.value), caught.value.hint) == (evidence, "keep the message")
    assert "in shard 1; the job has ended" in caught.value.__notes__ and evidence in caplog.text


def test_rows_that_panicked_are_in_the_report_and_not_in_the_log(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = garblet.compile("pub fn main(alice: u8, bob: u8) -> u8 { alice + bob }", name="sum").batch(2)
    panicked = garblet.run_local(program, [{"alice": [1, 200]}, {"bob": [1, 56]}])[0]
    outcomes(jobs, monkeypatch, lambda _: panicked)
    with caplog.at_level(logging.DEBUG, "garblet"):
        reports = job(jobs, tmp_path)
    assert [list(report.panicked) for report in reports] == [[1], [1]]
    (file,) = (tmp_path / "records").iterdir()
    assert "panicked" not in caplog.text + file.read_text()


class Proxy:
    """HAProxy's socket, which closes after this many commands."""

    def __init__(self, path: Path, commands: int) -> None:
        self.path, self.heard = path, list[str]()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen()
        self.thread = threading.Thread(target=self.serve, args=(commands,), daemon=True)
        self.thread.start()

    def serve(self, commands: int) -> None:
        for _ in range(commands):
            with self.server.accept()[0] as caller:
                self.heard.append(caller.recv(4096).decode())
        self.server.close()
        self.path.unlink()


@pytest.mark.parametrize("kind", ["CheatingError", "UsageError"])
def test_the_proxy_has_no_worker_left_of_a_job_that_ended_at_once(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    outcomes(jobs, monkeypatch, lambda _: (kind, "on purpose", None))
    removed: list[str] = []
    monkeypatch.setattr(jobs.Listening, "remove", lambda _, name: removed.append(name[-3:]))
    with pytest.raises(garblet.GarbletError, match="on purpose"):
        job(jobs, tmp_path, peer=jobs.Listening("haproxy.sock", "garblet.map", {}))
    assert removed == ["0-1"]


def test_results_are_kept_where_the_proxy_goes_away(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    peer = jobs.Listening(str(tmp_path / "haproxy.sock"), "garblet.map", {})
    proxy = Proxy(tmp_path / "haproxy.sock", 1)
    with caplog.at_level(logging.WARNING, "garblet"):
        reports = job(jobs, tmp_path, peer=peer)
    proxy.thread.join(10)
    assert [result["alice_richer"] for result in reports] == [[True], [True]]
    assert proxy.heard == ["del map garblet.map risk-7f3a9c-0-1\n"]
    assert "risk-7f3a9c-1-1 is not taken out of garblet.map: HAProxy at" in caplog.text


def test_a_job_that_ends_gives_what_it_has(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = ("UsageError", "HAProxy at haproxy.sock: connection refused", "start HAProxy on this node")
    outcomes(jobs, monkeypatch, lambda name: wrong if "-1-" in name else report())
    with pytest.raises(jobs.ShardsError, match="the job has ended; this party has 1 of 2 shards: HAProxy at") as caught:
        job(jobs, tmp_path)
    assert caught.value.reports[0]["alice_richer"] == [True]
    assert isinstance(caught.value.failed[1], garblet.UsageError) and caught.value.hint == wrong[2]
    # Without any result, only the error is raised.
    outcomes(jobs, monkeypatch, lambda _: wrong)
    with pytest.raises(garblet.UsageError, match="HAProxy at"):
        job(jobs, tmp_path, session="another")


def test_whoever_has_lost_a_worker_waits_until_the_peer_has_missed_it(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    waited: list[tuple[str, float]] = []

    def attempt(task: Any, door: Any, name: str, slot: int, patience: float, *_: Any) -> Any:
        waited.append((name[-3:], patience))
        return ("GarbletError", "the worker died", None) if name.endswith("-0-1") else report()

    monkeypatch.setattr(jobs, "_attempt", attempt)
    assert len(job(jobs, tmp_path, timeout=10.0)) == 2
    # A peer whose shard 0 waits in vain reaches shard 1 thirty seconds later.
    assert waited == [("0-1", 30.0), ("1-1", 60.0), ("0-2", 30.0)]


def test_jobs_do_not_share_room(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = []

    def attempt(_: str) -> garblet.Report:
        rooms.extend(jobs.ray.rooms)
        return report()

    outcomes(jobs, monkeypatch, attempt)
    monkeypatch.setattr(jobs.ray, "cluster_resources", lambda: {"CPU": 4.0, "garblet_slot_0": 1, "garblet_slot_1": 1})
    job(jobs, tmp_path, slots=2, cpus=0.5, stores="/var/{slot}")
    assert rooms[0] == [{"CPU": 0.5, "garblet_slot_0": 1.0}, {"CPU": 0.5, "garblet_slot_1": 1.0}]
    assert jobs.ray.rooms == [], "it has given its room back"
    monkeypatch.setattr(jobs.ray, "is_free", False)
    with pytest.raises(garblet.UsageError, match="others are at work on this cluster") as caught:
        job(jobs, tmp_path, session="another")
    assert "wait until their job has ended" in (caught.value.hint or "") and jobs.ray.rooms == []
    # Nothing was evaluated, so the name can serve again.
    assert not (tmp_path / "records/another.jsonl").exists()


def unlike(outcome: Any, attempt: str) -> Callable[[str], Any]:
    """An attempt whose outcome differs from all others."""
    return lambda name: outcome if name.endswith(attempt) else report()


def other_report() -> garblet.Report:
    return garblet.run_local(garblet.load("lib:millionaires(32)").batch(1), [{"alice": [5]}, {"bob": [7]}])[0]


PANICKED = ("Panicked", "arithmetic overflow at main:1:34", None)


@pytest.mark.parametrize("second", [other_report, lambda: PANICKED], ids=["result", "panic"])
def test_another_result_of_another_attempt_is_told_and_not_taken(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: Callable[[], Any]
) -> None:
    outcomes(jobs, monkeypatch, unlike(second(), "-0-2"))
    said = iter([[False, False], [False, False], [True, True]])
    monkeypatch.setattr(jobs._Job, "_compare", lambda *_: next(said))
    with pytest.raises(garblet.CheatingError, match="shard 0: another attempt gave another result") as caught:
        job(jobs, tmp_path)
    reports = caught.value.reports  # type: ignore[attr-defined]
    assert {shard: kept["alice_richer"] for shard, kept in reports.items()} == {0: [True], 1: [True]}
    assert next(said) == [True, True], "the job has ended at once"


def test_a_panic_is_no_result_later(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, unlike(PANICKED, "-0-1"))
    monkeypatch.setattr(jobs._Job, "_compare", lambda *_: [False, False])
    with pytest.raises(garblet.CheatingError, match="shard 0: another attempt gave another result") as caught:
        job(jobs, tmp_path)
    assert list(caught.value.reports) == [1]  # type: ignore[attr-defined]


def test_a_peer_who_learns_nothing_does_not_see_that_results_differ(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = garblet.load("lib:millionaires(32)").batch(1).with_recipients("alice_richer", [0])
    names: list[str] = []

    def attempt(name: str) -> Any:
        names.append(name[-3:])
        return unlike(other_report(), "-0-2")(name)

    outcomes(jobs, monkeypatch, attempt)
    said = iter([[False, False], [False, True], [False, True], [True, True]])
    monkeypatch.setattr(jobs._Job, "_compare", lambda *_: next(said))
    with pytest.raises(garblet.CheatingError, match="shard 0: another attempt gave another result"):
        job(jobs, tmp_path, program=program)
    assert names == ["0-1", "1-1", "0-2", "0-3"], "it has gone on"


def test_a_panic_is_told_neither_by_the_status_nor_by_patience(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waited: list[float] = []
    told: list[list[bool]] = []

    def attempt(task: Any, door: Any, name: str, slot: int, patience: float, *_: Any) -> Any:
        waited.append(patience)
        return PANICKED if "-0-" in name else report()

    class Status:
        """A status session with a peer that has finished everything."""

        def __init__(self, *_: Any) -> None:
            self.address = None

        def __enter__(self) -> Status:
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def run(self, **inputs: list[bool]) -> dict[str, list[bool]]:
            told.extend(inputs.values())
            return {"out0": told[-1]}

    monkeypatch.setattr(jobs, "_attempt", attempt)
    monkeypatch.setattr(jobs, "_own_address", lambda: "127.0.0.1")
    monkeypatch.setattr(jobs._Task, "session", Status)
    with caplog.at_level(logging.DEBUG, "garblet"), pytest.raises(jobs.ShardsError) as caught:
        job(jobs, tmp_path, timeout=10.0)
    assert told == [[False, False], [True, True]] and waited == [30.0, 30.0]
    assert isinstance(caught.value.failed[0], garblet.Panicked) and list(caught.value.reports) == [1]
    assert "overflow" not in caplog.text


def test_results_are_kept_where_the_peer_says_that_it_has_none(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    monkeypatch.setattr(jobs._Job, "_compare", lambda *_: [False, False])
    with pytest.raises(jobs.ShardsError, match="the peer has none") as caught:
        job(jobs, tmp_path)
    assert list(caught.value.failed) == list(caught.value.reports) == [0, 1]


def test_a_status_that_has_shards_done_that_were_not_tried_is_told(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    said = iter([[False, True], [True, True]])
    monkeypatch.setattr(jobs._Job, "_compare", lambda *_: next(said))
    with pytest.raises(jobs.ShardsError, match="shard 1: .* but this party has not tried it") as caught:
        job(jobs, tmp_path)
    assert list(caught.value.failed) == [1] and list(caught.value.reports) == [0]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, OSError, garblet.CheatingError])
@pytest.mark.parametrize("when", ["attempt", "status"])
def test_whatever_ends_a_job_has_its_results(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: type[BaseException], when: str
) -> None:
    def end(name: str) -> Any:
        if when == "attempt" and "-1-" in name:
            raise ending("on purpose")
        return report()

    def compare(of: Any, number: int, _: int) -> list[bool]:
        if when == "status" and number == 1:
            raise ending("on purpose")
        return [False, False]

    outcomes(jobs, monkeypatch, end)
    monkeypatch.setattr(jobs._Job, "_compare", compare)
    with pytest.raises(ending, match="on purpose") as caught:
        job(jobs, tmp_path)
    assert list(caught.value.reports) == ([0] if when == "attempt" else [0, 1])  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_over", [True, False])
@pytest.mark.parametrize("where", ["door", "leave", "room"])
def test_whatever_comes_while_a_job_is_left_has_its_results(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, is_over: bool
) -> None:
    def attempt(name: str) -> Any:
        if "-1-" in name and not is_over:
            raise KeyboardInterrupt("the first")
        return report()

    def again(*_: Any) -> None:
        raise KeyboardInterrupt("the second")

    outcomes(jobs, monkeypatch, attempt)
    monkeypatch.setattr(jobs.Listening, "remove", lambda *_: None)
    whose, name = {"door": (jobs.ray, "kill"), "leave": (jobs._Job, "leave"), "room": (jobs.ray.util, "remove_placement_group")}[where]
    monkeypatch.setattr(whose, name, again)
    with pytest.raises(KeyboardInterrupt, match="the second") as caught:
        job(jobs, tmp_path, peer=jobs.Listening("haproxy.sock", "garblet.map", {}))
    assert list(caught.value.reports) == ([0, 1] if is_over else [0])  # type: ignore[attr-defined]


def test_a_slot_whose_node_is_gone_is_not_waited_for(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = object()
    outcomes(jobs, monkeypatch, unlike(lost, "-1-1"))
    cancelled: list[Any] = []

    def wait(coming: list[Any], num_returns: int, timeout: float, fetch_local: bool = True) -> tuple[list[Any], list[Any]]:
        assert timeout > 0, "it looks now and then"
        return [task for task in coming if task[0] is not lost][:1], []

    monkeypatch.setattr(jobs.ray, "wait", wait)
    monkeypatch.setattr(jobs.ray, "cancel", lambda task, force: cancelled.append(task[0]))
    jobs.ray.util.placement_group_table = lambda _: {"bundles_to_node_id": {0: "here", 1: "gone"}}
    jobs.ray.nodes = lambda: [{"NodeID": "here", "Alive": True}, {"NodeID": "gone", "Alive": False}]
    assert len(job(jobs, tmp_path, slots=2, timeout=0.01)) == 2
    assert cancelled == [lost]


def test_all_names_are_removed_when_nobody_enters_them_any_more(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def attempt(name: str) -> Any:
        if "-0-" in name:
            return report()
        raise KeyboardInterrupt

    def late(coming: Any) -> Any:
        if isinstance(coming[0], garblet.Report):
            raise jobs.ray.exceptions.RayError("the worker died")
        return coming[0]

    outcomes(jobs, monkeypatch, attempt)
    monkeypatch.setattr(jobs.ray, "get", late)
    monkeypatch.setattr(jobs.ray, "kill", lambda _: done.append("kill"))
    monkeypatch.setattr(jobs.Listening, "remove", lambda _, name: done.append(name[-3:]))
    with pytest.raises(KeyboardInterrupt):
        job(jobs, tmp_path, peer=jobs.Listening("haproxy.sock", "garblet.map", {}))
    # Requests of a worker that died may arrive later, and an interruption may leave a worker behind that nobody tracks.
    assert done[:2] == ["0-1", "kill"] and sorted(done[2:]) == ["0-1", "1-1"]


class Status:
    """A status session with a peer that has the same results as this party."""

    def __init__(self, *_: Any) -> None:
        self.address = ("127.0.0.1", 1)

    def __enter__(self) -> Status:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def run(self, **inputs: list[bool]) -> dict[str, list[bool]]:
        (own,) = inputs.values()
        return {"out0": own}


class Interrupt:
    """Interrupts a job before one of the lines of its rounds, counted from 0, and records the function."""

    FUNCTIONS = ("run", "_round", "_begin", "_result", "_given_up", "_end", "_noticed", "_remove", "_compare", "enter", "remove")

    def __init__(self, line: int, file: str) -> None:
        self.left, self.file, self.where = line, file, ""

    def __call__(self, frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != self.file or frame.f_code.co_name not in self.FUNCTIONS:
            return None
        if event == "line" and not self.where and not self.is_leaving(frame):
            self.left -= 1
            if self.left < 0:
                self.where = frame.f_code.co_name
                raise KeyboardInterrupt("on purpose")
        return self

    def is_leaving(self, frame: types.FrameType | None) -> bool:
        while frame is not None and frame.f_code.co_name != "leave":
            frame = frame.f_back
        return frame is not None


@pytest.mark.parametrize("first", ["returned", "died", "gone"])
def test_wherever_a_job_is_interrupted_it_has_its_results_and_leaves_no_name(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    entered, results = set[str](), set[int]()
    # A worker that has not returned may be entered as long as there is a door.
    late, astray = object(), set[str]()
    one = report()

    def ask(_: Any, command: str) -> str:
        what, _, _, name = command.split()[:4]
        (entered.add if what == "add" else entered.discard)(name)
        return ""

    def attempt(task: Any, door: Any, name: str, *_: Any) -> Any:
        entered.add(name)
        if first != "returned" and name.endswith("-1-1"):
            astray.add(name)
            return late
        results.add(int(name.split("-")[-2]))
        return one

    def get(coming: Any) -> Any:
        if coming[0] is late:
            raise jobs.ray.exceptions.RayError("the worker died")
        return coming[0]

    def wait(coming: list[Any], num_returns: int, timeout: float, fetch_local: bool = True) -> tuple[list[Any], list[Any]]:
        return [task for task in coming if first != "gone" or task[0] is not late][:1], []

    monkeypatch.setattr(jobs, "_attempt", attempt)
    monkeypatch.setattr(jobs, "_own_address", lambda: "127.0.0.1")
    monkeypatch.setattr(jobs._Task, "session", Status)
    monkeypatch.setattr(jobs.Listening, "_ask", ask)
    for name, stub in (("get", get), ("wait", wait), ("kill", lambda _: entered.update(astray))):
        monkeypatch.setattr(jobs.ray, name, stub)
    jobs.ray.util.placement_group_table = lambda _: {"bundles_to_node_id": {0: "here", 1: "gone"}}
    jobs.ray.nodes = lambda: [{"NodeID": "here", "Alive": True}]
    where, line = "somewhere", 0
    while where:
        results.clear()
        astray.clear()
        interrupt = Interrupt(line, jobs.__file__)
        sys.settrace(interrupt)
        try:
            job(jobs, tmp_path / str(line), slots=2, timeout=1e-9, peer=jobs.Listening("haproxy.sock", "garblet.map", {}))
            kept = {0, 1}
        except KeyboardInterrupt as error:
            kept = set(error.reports)  # type: ignore[attr-defined]
        finally:
            sys.settrace(None)
        where = interrupt.where
        # Of what Ray has begun and the job has not noted yet nothing can have come.
        assert kept <= results and len(results - kept) <= (where == "_begin"), (line, where)
        assert entered == set(), (line, where)
        line += 1
    assert line > 100


def test_each_part_of_leaving_is_done_whatever_becomes_of_the_others(
    jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def fail(what: str) -> None:
        done.append(what)
        raise RuntimeError(f"{what} fails")

    def interrupt(*_: Any, timeout: float, **__: Any) -> Any:
        if timeout > 0:
            raise KeyboardInterrupt
        return fail("wait")

    outcomes(jobs, monkeypatch, lambda _: report())
    monkeypatch.setattr(jobs.ray, "wait", interrupt)
    monkeypatch.setattr(jobs.ray, "cancel", lambda *_, force: fail("cancel"))
    monkeypatch.setattr(jobs.ray, "kill", lambda _: fail("kill"))
    monkeypatch.setattr(jobs.Listening, "remove", lambda *_: fail("remove"))
    with pytest.raises(KeyboardInterrupt):
        job(jobs, tmp_path, slots=2, peer=jobs.Listening("haproxy.sock", "garblet.map", {}))
    assert done == ["wait"] * 2 + ["cancel"] * 2 + ["kill"] + ["remove"] * 2
    assert jobs.ray.rooms == []


def test_results_that_have_come_are_kept_when_another_ends_the_job(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda name: ("CheatingError", "on purpose", None) if "-0-" in name else report())
    with pytest.raises(garblet.CheatingError, match="on purpose") as caught:
        job(jobs, tmp_path, slots=2)
    assert list(caught.value.reports) == [1]  # type: ignore[attr-defined]


def test_an_accusation_that_nobody_had_looked_at_is_told(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda name: ("UsageError", "first", None) if "-0-" in name else ("CheatingError", "evidence", None))
    with pytest.raises(garblet.UsageError, match="first") as caught:
        job(jobs, tmp_path, slots=2)
    assert any("CheatingError" in note and "evidence" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_disk_that_is_full_costs_no_name(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    fsync = os.fsync

    def full(opened: int) -> None:
        if stat.S_ISDIR(os.fstat(opened).st_mode) == (what == "folder"):
            raise OSError("no space left on device")
        fsync(opened)

    with monkeypatch.context() as patched, pytest.raises(OSError, match="no space left"):
        patched.setattr(jobs.os, "fsync", full)
        job(jobs, tmp_path)
    assert list((tmp_path / "records").iterdir()) == []
    assert len(job(jobs, tmp_path)) == 2


def test_the_status_waits_for_the_longest_slot(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    waited: list[int] = []
    said = iter([[True, False, True, False, True, False, True, False], [True] * 8])

    def compare(of: Any, number: int, longest: int) -> list[bool]:
        waited.append(longest)
        of._reports.update(dict.fromkeys(range(8), report()))
        return next(said)

    monkeypatch.setattr(jobs._Job, "_compare", compare)
    table = {"alice": np.arange(8, dtype=np.uint32)}
    assert len(job(jobs, tmp_path, shards=8, slots=2, table=table)) == 8
    assert waited == [1, 4], "slot 1 has all four"


def test_a_name_that_has_been_run_leaves_nothing_behind(jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes(jobs, monkeypatch, lambda _: report())
    doors: list[Any] = []
    monkeypatch.setattr(jobs, "_Door", doors.append)
    peer = jobs.Listening("haproxy.sock", "garblet.map", {})
    monkeypatch.setattr(jobs.Listening, "remove", lambda *_: None)
    job(jobs, tmp_path, peer=peer)
    with pytest.raises(garblet.UsageError, match="has been run"):
        job(jobs, tmp_path, peer=peer)
    assert len(doors) == 1


def test_a_name_that_is_not_found_for_now_is_tried_again(jobs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = '{"b": 3}'
    digest = jobs.hashlib.sha256(encoded.encode()).hexdigest()
    program = garblet.load("lib:millionaires(32)")

    class Unresolved:
        """A session whose peer is not found."""

        def __init__(self, *_: Any) -> None:
            pass

        def __enter__(self) -> Unresolved:
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def _run(self, _: str) -> None:
            raise garblet.UsageError("alice.example:7700: no such host", "check the name")

    monkeypatch.setattr(jobs, "_own_address", lambda: "127.0.0.1")
    monkeypatch.setattr(jobs._Task, "session", Unresolved)
    task = jobs._Task(program, 1, jobs.Calling("alice.example:7700", {}), "", "yao", {}, 1.0, False, None, None)
    ended = jobs._attempt(task, None, "risk-0-1", 0, 1.0, encoded, digest)
    assert ended == ("GarbletError", "alice.example:7700: no such host", "check the name")
