// Package matchtest helps to test the matcher. It makes calls, each in one line of a test. It also
// makes programs of which it is known who waited for whom (Model).
package matchtest
