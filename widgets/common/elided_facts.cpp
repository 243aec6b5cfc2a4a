#include "widgets/common/elided_facts.h"

#include <QStringList>

#include <algorithm>

namespace orrery::ui {

namespace {

bool isNumber(const QString& word) {
    return !word.isEmpty() && (word[0].isDigit() || (word.size() > 1 && word[1].isDigit() && !word[0].isLetter()));
}

}  // namespace

QString elidedFacts(const QString& line, const QFontMetricsF& metrics, double width) {
    const auto fits = [&](const QString& text) { return metrics.horizontalAdvance(text) <= width; };
    if (fits(line)) return line;
    const QString between = QStringLiteral(" · "), more = QStringLiteral("…");
    QStringList facts = line.split(between);
    QStringList words = facts.front().split(QLatin1Char(' '));
    if (facts.size() < 2 && std::ranges::none_of(words, isNumber))
        return metrics.elidedText(line, Qt::ElideRight, width);
    while (facts.size() > 1) {
        facts.removeLast();
        if (const QString shorter = facts.join(between) + between + more; fits(shorter)) return shorter;
    }
    while (words.size() > 1) {
        words.removeLast();
        if (isNumber(words.back())) words.removeLast();  // what was beside it is its unit
        if (words.isEmpty()) break;
        if (const QString shorter = words.join(QLatin1Char(' ')) + QLatin1Char(' ') + more; fits(shorter))
            return shorter;
    }
    return more;
}

}  // namespace orrery::ui
