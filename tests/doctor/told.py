"""What the doctor told, for tests."""

from multikernel.doctor import diagnose


def find(found, level, subject, said=""):
    """The one finding of a level on a subject."""
    hits = [f for f in found.findings if (f.level, f.subject) == (level, subject) and said in f.what]
    assert len(hits) == 1, found
    assert hits[0].remedy
    return hits[0]


def told(X, y=None, kernels="auto", **options):
    return {(f.level, f.subject) for f in diagnose(X, y, kernels, **options).findings}
