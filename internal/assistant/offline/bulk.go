package offline

// bulk is a sentence about several records at once.
type bulk struct{}
