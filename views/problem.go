package views

import "net/http"

// Failure is a page that could not be given. Reference is what to quote when asking about it.
type Failure struct {
	Status    int
	Title     string
	Words     string
	Reference string
}

// FailureOf names a status; words may be empty for the usual ones.
func FailureOf(status int, words string) Failure {
	f := Failure{Status: status, Words: words}
	usual := ""
	switch status {
	case http.StatusForbidden:
		f.Title, usual = "Not yours to see", "You may not see or do this in the workspace you are in."
	case http.StatusNotFound:
		f.Title, usual = "Not here", "There is nothing at this address, or it is in another workspace."
	case http.StatusMethodNotAllowed:
		f.Title, usual = "Not by a link", "This is done with a button on its page, never by following a link."
	case http.StatusTooManyRequests:
		f.Title, usual = "Too many tries", "Wait a moment, then try again."
	case http.StatusServiceUnavailable:
		f.Title, usual = "Not available right now", "The service could not answer, so nothing was done. Try again in a moment."
	case http.StatusInternalServerError:
		f.Title, usual = "Something went wrong", "This is a fault of ours. Look at the proposal again before you repeat anything."
	default:
		f.Title, usual = "That did not work", "What was sent could not be read."
	}
	if f.Words == "" {
		f.Words = usual
	}
	return f
}
