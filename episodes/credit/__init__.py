"""What each recorded action cost compared with the best one."""
