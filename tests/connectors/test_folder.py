"""."""

import os
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors import volumes
from chapterhouse.connectors.folder import is_there, left_out, parents_of, resolve_root, walk
from chapterhouse.connectors.volumes import Mount, Volume, Volumes, changes
from chapterhouse.errors import ChapterhouseError, NotFoundError, UsageError


def _write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def _sources(root: Path, label: str = "") -> list[str]:
    return [file.source for file in walk(root, label)]


def test_a_folder_gives_its_files_in_order(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    _write(root, "b.md", "a/z.md", "a-b.md", "a/é.md", "a.md", "c/d/e.txt")
    files = list(walk(root))
    assert [file.source for file in files] == [
        "docs/a-b.md", "docs/a.md", "docs/a/z.md", "docs/a/é.md", "docs/b.md", "docs/c/d/e.txt",
    ]  # fmt: skip
    assert files[2].location == str(root / "a" / "z.md")
    assert files[2].parts == ("a", "z.md")
    assert files[2].size == len("a/z.md")
    assert files[2].mtime_ns == (root / "a" / "z.md").stat().st_mtime_ns
    assert files[2].name == "z.md"
    assert all(file.problem is None for file in files)


@given(st.sets(st.text("ab-.0é/", min_size=1, max_size=6), max_size=8))
def test_the_order_is_that_of_sources(
    tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    root = tmp_path_factory.mktemp("order")
    for name in sorted(names):
        parts = [f"x{part}" for part in name.split("/")]
        try:
            _write(root, "/".join(parts))
        except (NotADirectoryError, FileExistsError, IsADirectoryError):
            continue
    sources = _sources(root)
    assert sources == sorted(sources)


def test_hidden_files_and_what_tools_leave_are_passed_over(tmp_path: Path) -> None:
    _write(
        tmp_path, ".git/config", ".env", ".DS_Store", "node_modules/x/readme.md", "Thumbs.db",
        "__pycache__/m.pyc", "~$report.docx", "report.docx", "kept/node_modules.md",
    )  # fmt: skip
    assert _sources(tmp_path, "t") == ["t/kept/node_modules.md", "t/report.docx"]


def test_a_library_below_an_added_folder_is_passed_over(tmp_path: Path) -> None:
    own = tmp_path / "Chapterhouse" / "workspaces" / "default"
    _write(tmp_path, "letter.md", "Chapterhouse/notes.md", "books/library.db")
    _write(tmp_path, "Chapterhouse/chapterhouse.toml")
    _write(own, "library.db", "blobs/ab/abcd", "index/lexical/state.json", "workspace.toml")
    _write(tmp_path, "workspaces/plans/plan.md")
    assert _sources(tmp_path, "t") == [
        "t/Chapterhouse/notes.md", "t/books/library.db", "t/letter.md",
        "t/workspaces/plans/plan.md",
    ]  # fmt: skip
    assert _sources(own) == []


def test_a_single_file_is_named_after_its_folder(tmp_path: Path) -> None:
    _write(tmp_path / "docs", "one.md", ".hidden.md")
    (file,) = walk(tmp_path / "docs" / "one.md")
    assert (file.root, file.parts) == (tmp_path / "docs", ("one.md",))
    assert file.source == "docs/one.md"
    # Its owner named it: the rule about hidden files is for folders.
    assert _sources(tmp_path / "docs" / ".hidden.md") == ["docs/.hidden.md"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    _write(root, "real/a.md")
    _write(outside, "secret.md")
    (root / "to-file").symlink_to(outside / "secret.md")
    (root / "to-folder").symlink_to(outside)
    (root / "to-inside").symlink_to(root / "real")
    (root / "to-itself").symlink_to(root / "to-itself")
    (root / "to-nothing").symlink_to(root / "nothing")
    found = {file.source: file.problem and file.problem.code for file in walk(root)}
    assert found == {
        "root/real/a.md": None,
        "root/to-file": "symbolic-link",
        "root/to-folder": "symbolic-link",
        "root/to-inside": "symbolic-link",
        "root/to-itself": "symbolic-link",
        "root/to-nothing": "symbolic-link",
    }


def test_a_root_that_is_a_link_was_meant(tmp_path: Path) -> None:
    _write(tmp_path / "real", "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (file,) = walk(tmp_path / "link")
    assert file.location == str(tmp_path / "real" / "a.md")
    assert resolve_root(tmp_path / "link" / "a.md") == (tmp_path / "real", ("a.md",))


def test_pipes_and_sockets_are_told_apart_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's address must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        found = {file.name: file.problem for file in walk(tmp_path)}
    assert {name: problem and problem.code for name, problem in found.items()} == {
        "pipe": "not-a-file",
        "socket": "not-a-file",
    }
    assert found["pipe"] is not None
    assert "named pipe" in found["pipe"].sentence


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform == "darwin", reason="root reads all")
def test_a_closed_folder_is_told(tmp_path: Path, as_nobody: None) -> None:
    _write(tmp_path, "closed/a.md", "open/b.md")
    (tmp_path / "closed").chmod(0)
    try:
        found = {file.source: file.problem for file in walk(tmp_path, "t")}
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert set(found) == {"t/closed", "t/open/b.md"}
    problem = found["t/closed"]
    assert problem is not None
    assert problem.code == "cannot-list"
    assert "Permission denied" in problem.sentence


def test_names_that_are_no_text_are_found(tmp_path: Path) -> None:
    if sys.platform == "darwin":
        pytest.skip("the file system takes only UTF-8")
    name = b"caf\xe9\n.txt"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:  # noqa: PTH118, PTH123 - bytes
        file.write(b"x")
    (found,) = walk(tmp_path, "t")
    assert found.source == "t/caf\\xe9\\u000a.txt"
    assert found.location == f"{tmp_path}/caf\\xe9\n.txt"
    assert os.fsencode(found.parts[0]) == name
    assert is_there(found.location)
    assert not is_there(found.location + "x")


def test_a_folder_may_be_deeper_than_python(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)
    try:
        (file,) = walk(tmp_path)
        assert file.parts == (*("d",) * 1200, "deep.txt")
    finally:
        _flatten(tmp_path)


def _flatten(root: Path) -> None:
    """Take a deep folder apart from the top: its removal by path would be too long a name."""
    current = root / "d"
    number = 0
    while current.is_dir():
        number += 1
        inner = current / "d"
        if inner.is_dir():
            inner.rename(root / f"e{number}")
        for entry in current.iterdir():
            entry.unlink()
        current.rmdir()
        current = root / f"e{number}"


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no file or folder"):
        list(walk(tmp_path / "nothing"))
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(NotFoundError, match="no file or folder"):
        list(walk(tmp_path / "circle"))


def test_above_a_file_in_a_cloud_drive_are_its_folders_there() -> None:
    assert list(parents_of("rclone:gdrive:Papers/a.zip/b: c.md")) == [
        "rclone:gdrive:Papers/a.zip",
        "rclone:gdrive:Papers",
        "rclone:gdrive:",
    ]
    assert list(parents_of("rclone:gdrive:a.md")) == ["rclone:gdrive:"]
    assert list(parents_of("rclone:gdrive:")) == []
    assert list(parents_of("/a/b")) == ["/a", "/"]
    assert is_there("rclone:gdrive:Papers/a.md")


PATHS = [
    "a.md", "a.log", "drafts/b.md", "sub/drafts/c.md", "sub/a.log", "notes/old/d.md", "notes/d.md",
]  # fmt: skip
PATTERNS = [
    ["*.log"], ["drafts/"], ["/a.md"], ["notes/**/d.md"], ["*.md", "!notes/d.md"], ["sub/*"],
]  # fmt: skip


@pytest.mark.parametrize("patterns", PATTERNS, ids=" ".join)
def test_exclude_means_what_git_means(patterns: list[str], tmp_path: Path) -> None:
    git = shutil.which("git")
    assert git, "the tests need git"
    subprocess.run([git, "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(patterns))
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    listed = subprocess.run(
        [git, "-C", tmp_path, "ls-files", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    leaves = left_out((), patterns)
    read = [path for path in PATHS if not leaves(path, is_folder=False)]
    assert sorted(read) == sorted(path for path in listed if path != ".gitignore")


def test_include_reads_nothing_else_but_looks_into_every_folder() -> None:
    leaves = left_out(["notes/"], ["*.log"])
    assert [path for path in PATHS if not leaves(path, is_folder=False)] == [
        "notes/old/d.md",
        "notes/d.md",
    ]
    assert not leaves("sub", is_folder=True)
    assert left_out([], ["sub/"])("sub", is_folder=True)


@pytest.mark.parametrize("pattern", ["", " ", "a\nb", "[bad"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="no pattern"):
        left_out((), [pattern])


def test_a_change_is_told_and_the_watch_ends_when_it_should(tmp_path: Path) -> None:
    with pytest.raises(ChapterhouseError, match="cannot be watched"):
        next(changes([tmp_path / "none"], threading.Event()))
    stop = threading.Event()
    seen: set[Path] = set()
    for batch in changes([tmp_path], stop):
        if seen := seen | batch:
            stop.set()
        else:
            (tmp_path / "new.md").write_text("A note.")
    assert seen == {tmp_path / "new.md"}


# --- a folder's volume tells whether its files can be there, whatever is mounted where ---


POINTS = ["/a", "/a/b", "/a/b/c", "/d e", "/d e/\\f"]
FOLDERS = ["/", *POINTS, "/a/b/x", "/a/x", "/d e/\\f/x/y", "/x"]
ROOTS = ["/", "/a", "/a/b", "/x y"]


@dataclass
class Kernel:
    """Mounts as a kernel has them: a path is walked name by name, from mount to mount."""

    mounts: list[tuple[str, str, str, str, str]] = field(
        default_factory=lambda: [("1", "0", "base", "/", "/")]
    )
    last: int = 1

    def at(self, folder: str) -> tuple[str, str, str, str, str]:
        found = self.mounts[0]
        names = [name for name in folder.split("/") if name]
        for depth in range(len(names) + 1):
            point = "/" + "/".join(names[:depth])
            while over := [one for one in self.mounts if one[1] == found[0] and one[4] == point]:
                (found,) = over
        return found

    def mount(self, system: str, root: str, point: str) -> None:
        self.last += 1
        self.mounts.append((str(self.last), self.at(point)[0], system, root, point))

    def unmount(self, point: str) -> None:
        top = self.at(point)
        if top[4] == point and point != "/" and all(one[1] != top[0] for one in self.mounts):
            self.mounts.remove(top)

    def place(self, folder: str) -> tuple[str, str]:
        _, _, system, root, point = self.at(folder)
        return system, root.rstrip("/") + folder[len(point.rstrip("/")) :]

    def table(self) -> str:
        def escaped(path: str) -> str:
            return path.replace("\\", r"\134").replace(" ", r"\040")

        return "".join(
            f"{number} {within} 0:{number} {escaped(root)} {escaped(point)} rw shared:1 master:2 -"
            f" network {system} rw\n"
            for number, within, system, root, point in self.mounts
        )


SYSTEMS = ["base", "disk", "share"]
STEPS = st.one_of(
    st.tuples(st.sampled_from(SYSTEMS), st.sampled_from(ROOTS), st.sampled_from(POINTS)),
    st.tuples(st.just(""), st.just(""), st.sampled_from(POINTS)),
)  # fmt: skip


@given(steps=st.lists(STEPS, max_size=12))
def test_two_folders_are_the_same_where_the_kernel_says_so(
    steps: list[tuple[str, str, str]],
) -> None:
    kernel, seen = Kernel(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(volumes, "_identify", lambda mount: mount.source)
        for system, root, point in steps:
            if system:
                kernel.mount(system, root, point)
            else:
                kernel.unmount(point)
            patch.setattr(volumes, "_TABLE", _Table(kernel.table()))
            now = Volumes.now()
            places = {folder: kernel.place(folder) for folder in FOLDERS}
            seen.append((places, {folder: now.of(folder) for folder in FOLDERS}))
            for before, texts in seen:
                for folder, place in places.items():
                    assert now.is_same(folder, texts[folder]) is (before[folder] == place)


@dataclass
class _Table:
    text: str

    def read_bytes(self) -> bytes:
        return self.text.encode()


def test_what_is_not_known_is_never_the_same() -> None:
    known = Volumes(lambda _number, _point: None, lambda _: "disk")
    unknown = Volumes(lambda _number, _point: None, lambda _: "")
    assert known.is_same("/a", known.of("/a"))
    assert not known.is_same("/a", "")
    assert unknown.of("/a") == ""
    assert not unknown.is_same("/a", "")


def test_a_disk_that_went_and_came_back_changed_meanwhile() -> None:
    def at(number: str) -> Volumes:
        table = {("", "/a"): Mount(number, "/a")}
        return Volumes(lambda within, point: table.get((within, point)), lambda _: "disk")

    before = at("7")
    before.of("/a/b")
    assert before.changed_until(at("7")) == frozenset()
    assert before.changed_until(at("8")) == {"/a", "/a/b"}


def test_without_a_table_each_folder_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, "_TABLE", Path("/nothing/here"))
    monkeypatch.setattr("os.path.ismount", lambda path: path in {"/", "/mnt/disk"})
    monkeypatch.setattr(volumes, "_identify", lambda mount: f"of{mount.point}")
    now = Volumes.now()
    assert Volume.parse(now.of("/mnt/disk/a")) == Volume("of/mnt/disk", "/", "/mnt/disk")
    assert now.mount("/mnt/other").point == "/"
