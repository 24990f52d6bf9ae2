// Package chaos holds tests that make the service fail at every step it has a failpoint at, and look at what is
// left: see make chaos. They are built with the tag failpoints alone.
//
//	walk_test.go    each point, with each fault that fits it, and what a repeated request then answers
//	random_test.go  people and assistants at work on two servers, and faults at random points
//	model_test.go   what one proposal may go through; each history is held against it
//	oracle_test.go  what may never be in the database, whatever failed
//
// The servers are processes of the whole program (this test's binary, run as it), the database is a cluster of
// the tests' own that is restarted and whose disk is filled. The tests look at it with connections of their own,
// and at the records by a log that triggers write and the program does not know.
package chaos
