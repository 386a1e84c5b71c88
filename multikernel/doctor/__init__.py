"""What is wrong with these kernels, views or targets? Findings with a remedy each, before a fit."""

from multikernel.doctor.diagnose import diagnose
from multikernel.doctor.diagnosis import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]
