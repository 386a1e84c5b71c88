"""The joint multiclass machine: all classes in one problem (Weston & Watkins 1999; Zien & Ong 2007)."""
