// Package guards proves that each guard of the product is guarded by a test. docs/guards.md is a table of them;
// its tests take each out by a patch of testdata, in a copy of the repository, and demand that the test which the
// table names turns red. It has no code of its own.
package guards
