package views

import "net/http"

// Failure is a page that could not be given. Reference is what to quote when asking about it.
type Failure struct {
	Status    int
	Title     string
	Words     string
	Reference string
}

// usual are the words for a status where there is nothing more to say.
var usual = map[int]Failure{
	http.StatusForbidden:           {Title: "Not yours to see", Words: "You may not see or do this in the workspace you are in."},
	http.StatusNotFound:            {Title: "Not here", Words: "There is nothing at this address, or it is in another workspace."},
	http.StatusMethodNotAllowed:    {Title: "Not by a link", Words: "This is done with a button on its page, never by following a link."},
	http.StatusTooManyRequests:     {Title: "Too many tries", Words: "Wait a moment, then try again."},
	http.StatusServiceUnavailable:  {Title: "Not available right now", Words: "The service could not answer, so nothing was done. Try again in a moment."},
	http.StatusInternalServerError: {Title: "Something went wrong", Words: "This is a fault of ours. Look at the proposal again before you repeat anything."},
}

// FailureOf names a status; words may be empty for the usual ones.
func FailureOf(status int, words string) Failure {
	f, known := usual[status]
	if !known {
		f = Failure{Title: "That did not work", Words: "What was sent could not be read."}
	}
	f.Status = status
	if words != "" {
		f.Words = words
	}
	return f
}
