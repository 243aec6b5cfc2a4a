#include "app/window/core/block_text.h"

#include <QRegularExpression>

namespace orrery::app {

QString plainHex(const QString& text) {
    static const QRegularExpression around(
        QStringLiteral(R"((?:#|;|//)[^\n]*|^[ \t]*(?:0[xX])?[0-9a-fA-F]+:|0[xX]|\\x|[,'"{}\[\]])"),
        QRegularExpression::MultilineOption);
    QString plain = text;
    for (auto each = around.globalMatch(text); each.hasNext();) {
        const auto match = each.next();
        for (qsizetype at = match.capturedStart(); at < match.capturedEnd(); ++at) plain[at] = QLatin1Char(' ');
    }
    return plain;
}

qsizetype positionOfByte(const QString& plain, qsizetype byte) {
    qsizetype digits = 0;
    for (qsizetype at = 0; at < plain.size(); ++at) {
        if (plain[at].isSpace()) continue;
        if (digits == 2 * byte) return at;
        ++digits;
    }
    return plain.size();
}

}  // namespace orrery::app
