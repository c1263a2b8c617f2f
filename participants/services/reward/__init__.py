"""What was an answer worth, by all that is known of it?"""
