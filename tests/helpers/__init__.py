"""What tests share: random problems, brute force, referees, servers."""
