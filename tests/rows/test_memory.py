"""How much memory there is, by the system and by its control groups."""

from __future__ import annotations

from multikernel.rows.memory import _cgroup_available, available_memory


def test_available_memory_is_plausible():
    available = available_memory()
    assert available is None or 2**20 < available < 2**50


def test_control_groups_limit_what_is_available(tmp_path):
    group = tmp_path / "cgroup" / "job" / "step"
    group.mkdir(parents=True)
    (tmp_path / "self").write_text("0::/job/step\n")
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("10\n")
    (group.parent / "memory.max").write_text("1000\n")
    (group.parent / "memory.current").write_text("700\n")
    (group.parent / "memory.stat").write_text("anon 600\ninactive_file 100\n")
    assert _cgroup_available(tmp_path / "cgroup", tmp_path / "self") == [400]


def test_control_groups_of_the_first_version(tmp_path):
    group = tmp_path / "cgroup" / "memory" / "job"
    group.mkdir(parents=True)
    (tmp_path / "self").write_text("5:cpu,cpuacct:/other\n4:memory:/job\n")
    (group / "memory.limit_in_bytes").write_text("5000\n")
    (group / "memory.usage_in_bytes").write_text("2000\n")
    assert _cgroup_available(tmp_path / "cgroup", tmp_path / "self") == [3000]
    assert _cgroup_available(tmp_path / "cgroup", tmp_path / "missing") == []
