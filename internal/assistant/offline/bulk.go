package offline

// bulk is a sentence about several records at once.
type bulk struct{}

func (bulk) run(*turn) (string, error) {
	return "", troubleError("Changing several records at once is not offered to me. Name one record per sentence; I take up to " + itoa(mostProposals) + " in one message.")
}
