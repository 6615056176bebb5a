module journal-adapter

go 1.18
