"""What all tests share: rules are tried without a clock, on a machine that may be busy."""

import hypothesis

hypothesis.settings.register_profile("suite", deadline=None, print_blob=True)
hypothesis.settings.load_profile("suite")
