"""Support vector machines on one kernel: losses, SMO, warm-started machines, the joint multiclass machine."""
