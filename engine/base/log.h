#pragma once
#include <functional>
#include <string>

namespace nacelle {

enum class LogLevel { debug, info, warning, error };

// Receives messages. It is passed to whoever writes them; there is no global log.
class Log final {
public:
    using Writer = std::function<void(LogLevel, const std::string&)>;
    Log();    // warnings and errors to standard error
    explicit Log(Writer writer);
    void write(LogLevel level, const std::string& text) const;
    void info(const std::string& text) const { write(LogLevel::info, text); }
    void warn(const std::string& text) const { write(LogLevel::warning, text); }

private:
    Writer writer_;
};

}
