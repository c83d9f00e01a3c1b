"""An entry point of the SageMaker training toolkit: hyperparameters are arguments, folders are variables (SM_…)."""

import argparse
import os

import numpy as np
from rows import read_rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--degree", type=int, default=1)
    parser.add_argument("--train", default=os.environ.get("SM_CHANNEL_TRAIN"))
    parser.add_argument("--model-dir", default=os.environ.get("SM_MODEL_DIR"))
    arguments = parser.parse_args()

    x, y = read_rows(arguments.train)
    coefficients = np.polyfit(x, y, arguments.degree)
    error = float(np.max(np.abs(np.polyval(coefficients, x) - y)))
    print(f"{len(x)} rows, degree {arguments.degree}, largest error {error:.3f}")
    np.save(os.path.join(arguments.model_dir, "coefficients.npy"), coefficients)


if __name__ == "__main__":
    main()
