"""`python experiments run hmrf_kmeans --profile quick`: see README.md in this folder."""

import os

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

if __name__ == "__main__":
    # One thread a process, decided before numpy is imported: cells run side by side instead.
    for variable in THREADS:
        os.environ.setdefault(variable, "1")

    from lab.cli import main

    main()
