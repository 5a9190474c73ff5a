"""A folder's volume tells whether its files can be there, whatever is mounted where."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors import volumes
from chapterhouse.connectors.volumes import Mount, Volume, Volumes

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
