#pragma once

#include <QTranslator>

namespace orrery::app {

/// English for `%n operator(s)`: one operator, two operators. Other languages bring their own translation files.
class EnglishPlurals : public QTranslator {
    Q_OBJECT
public:
    using QTranslator::QTranslator;
    /// Installs one for the application, once.
    static void install();
    QString translate(const char* context, const char* text, const char* disambiguation, int n) const override;
    bool isEmpty() const override { return false; }
};

}  // namespace orrery::app
