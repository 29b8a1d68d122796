steptrace stats $data/closed.txt
