#include "widgets/messages/identity_checks.h"

#include "base/unit.h"

#include <QRegularExpression>

namespace orrery::ui {

std::optional<Diagnostic> checkMesh(const QString& text) {
    static const QRegularExpression pattern(QStringLiteral(R"(^\s*[1-9]\d{0,6}(\s*[×xX,]\s*[1-9]\d{0,6})*\s*$)"));
    if (pattern.match(text).hasMatch()) return std::nullopt;
    return Diagnostic{Severity::Error,     "hardware.mesh",         "A mesh is whole numbers joined by ×",
                      "for example 14×12", "Type 14×12 or 14 x 12", {}};
}

std::optional<Diagnostic> checkName(const QString& text) {
    if (!text.contains(QLatin1Char('/')) && !text.contains(QLatin1Char('.'))) return std::nullopt;
    return Diagnostic{Severity::Error,
                      "hardware.name",
                      "A name cannot contain / or .",
                      "letters, digits, - and _",
                      "Slashes and dots separate names in paths",
                      {}};
}

std::optional<Diagnostic> checkCopies(const QString& text) {
    static const QRegularExpression grid(QStringLiteral("[×xX]"));
    return text.contains(grid) ? checkMesh(text) : checkCount(text);
}

std::optional<Diagnostic> checkCount(const QString& text) {
    const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
    if (!measure) return measure.error();
    if (measure->si >= 1 && measure->si <= 1e9) return std::nullopt;
    return Diagnostic{Severity::Error,
                      "hardware.count",
                      "A count is at least 1",
                      "1 to 1,000,000,000",
                      "Delete the component if there is none of it",
                      {}};
}

}  // namespace orrery::ui
