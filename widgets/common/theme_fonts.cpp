#include "widgets/common/theme_fonts.h"

#include <QFile>
#include <QFontDatabase>
#include <QFontInfo>
#include <QtEndian>

#include <optional>

namespace orrery::ui {
namespace {

struct Table {
    qsizetype offset = 0, length = 0;
};

// https://learn.microsoft.com/typography/opentype/spec/otff: numTables at 4, 16-byte records from 12.
std::optional<Table> findTable(const QByteArray& font, const char* tag) {
    if (font.size() < 12) return std::nullopt;
    const int count = qFromBigEndian<quint16>(font.constData() + 4);
    for (int i = 0; i < count && 12 + 16 * (i + 1) <= font.size(); ++i) {
        const char* record = font.constData() + 12 + 16 * i;
        if (qstrncmp(record, tag, 4) != 0) continue;
        const Table table{qFromBigEndian<quint32>(record + 8), qFromBigEndian<quint32>(record + 12)};
        if (table.offset + table.length <= font.size()) return table;
    }
    return std::nullopt;
}

QString firstInstalled(const QStringList& wanted, const QString& fallback) {
    const QStringList installed = QFontDatabase::families();
    for (const QString& family : wanted) {
        if (installed.contains(family)) return family;
    }
    return fallback;
}

}  // namespace

QByteArray withTabularFigures(const QByteArray& font, const QString& family, const QString& newFamily) {
    const auto gsub = findTable(font, "GSUB");
    const auto name = findTable(font, "name");
    if (!gsub || !name || family.size() != newFamily.size() || gsub->length < 8) return {};
    QByteArray out = font;
    const qsizetype list = gsub->offset + qFromBigEndian<quint16>(font.constData() + gsub->offset + 6);
    if (list + 2 > font.size()) return {};
    const int features = qFromBigEndian<quint16>(font.constData() + list);
    bool found = false;
    for (int i = 0; i < features && list + 2 + 6 * (i + 1) <= font.size(); ++i) {
        char* tag = out.data() + list + 2 + 6 * i;
        if (qstrncmp(tag, "rclt", 4) == 0) return {};  // taken: renaming would hide one of the two
        if (qstrncmp(tag, "tnum", 4) != 0) continue;
        memcpy(tag, "rclt", 4);
        found = true;
    }
    if (!found) return {};
    const auto utf16 = [](const QString& text) {
        QByteArray bytes;
        for (const QChar c : text) bytes.append(char(c.unicode() >> 8)).append(char(c.unicode() & 0xff));
        return bytes;
    };
    QByteArray names = out.mid(name->offset, name->length);
    names.replace(utf16(family), utf16(newFamily));
    names.replace(family.toLatin1(), newFamily.toLatin1());
    return out.replace(name->offset, name->length, names);
}

FontFamilies loadFonts() {
    FontFamilies families;
    const QString tabular = QStringLiteral("Intab");
    for (const char* weight : {"Regular", "Medium", "SemiBold"}) {
        for (const char* folder : {"/usr/share/fonts/opentype/inter", "/usr/local/share/fonts"}) {
            QFile file(QStringLiteral("%1/Inter-%2.otf").arg(folder, weight));
            if (!file.open(QIODevice::ReadOnly)) continue;
            const QByteArray patched = withTabularFigures(file.readAll(), QStringLiteral("Inter"), tabular);
            if (!patched.isEmpty()) QFontDatabase::addApplicationFontFromData(patched);
            break;
        }
    }
    const QString system = QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
    families.text = firstInstalled({tabular, QStringLiteral("Inter"), QStringLiteral("Noto Sans")}, system);
    families.mono = firstInstalled(
        {QStringLiteral("JetBrains Mono"), QStringLiteral("Noto Sans Mono"), QStringLiteral("DejaVu Sans Mono")},
        QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
    return families;
}

}  // namespace orrery::ui
