"""The answer log on disk: one SQLite file, one writer, sums that show damage."""
