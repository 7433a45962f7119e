"""InformationGain and what it believes: one file for each part of the belief."""
