"""The studies by name: a new one is added here."""

from studies import gonen2010, lanckriet2004, lewis2006, structured, ye2007, yeung2006
from studies.study import Study

_STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        gonen2010.STUDY,
        lanckriet2004.STUDY,
        lewis2006.STUDY,
        structured.STUDY,
        ye2007.STUDY,
        yeung2006.STUDY,
    )
}


def list_studies() -> list[Study]:
    """Return all studies.

    Examples
    --------
    >>> [study.name for study in list_studies()]
    ['gonen2010', 'lanckriet2004', 'lewis2006', 'structured', 'ye2007', 'yeung2006']
    """
    return list(_STUDIES.values())


def get_study(name: str) -> Study:
    """Return a study by its name, or say which there are.

    Parameters
    ----------
    name : str

    Returns
    -------
    Study
    """
    if name not in _STUDIES:
        raise ValueError(f"study must be one of {', '.join(_STUDIES)}; got {name!r}.")
    return _STUDIES[name]
