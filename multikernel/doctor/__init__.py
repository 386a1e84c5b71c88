"""What is wrong with these kernels, views or targets? Findings with a remedy each, before a fit.

`diagnose` looks at the ``target`` (``survival``: censored times), the ``columns`` of a table, the
``views``, the ``kernels``, at what gives the target away (``leakage``) and at the memory that a fit needs;
``diagnosis`` has what it returns.
"""

from multikernel.doctor.diagnose import diagnose
from multikernel.doctor.diagnosis import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]
