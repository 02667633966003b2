"""What all estimators share: parameter declarations, seeds, threads and their documentation."""
