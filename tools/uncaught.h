#pragma once

namespace nacelle::tools {

// From now on an uncaught exception, also on a library's thread, prints its text and ends the process with status 1. By
// default std::terminate() raises SIGABRT, as a crash of an author's code does.
void tell_uncaught_exceptions();

}
