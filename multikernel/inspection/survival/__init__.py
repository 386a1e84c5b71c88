"""Censored times: their curves, what predictions of risks and of survival are worth, calibration."""
