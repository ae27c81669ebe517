"""What has been released so far about the same people, kept durably in one file that is only ever added to."""
