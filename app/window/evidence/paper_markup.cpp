#include "app/window/evidence/paper_markup.h"

#include <QHash>
#include <QList>
#include <QRegularExpression>
#include <QStringList>

#include <functional>
#include <utility>

namespace orrery::app {

namespace {

using Match = QRegularExpressionMatch;

QRegularExpression pattern(const char* text) {
    return QRegularExpression(QLatin1String(text), QRegularExpression::DotMatchesEverythingOption);
}

QString replaced(const QString& text, const QRegularExpression& what, const std::function<QString(const Match&)>& by) {
    QString out;
    qsizetype from = 0;
    for (auto found = what.globalMatch(text); found.hasNext();) {
        const Match match = found.next();
        out += QStringView(text).sliced(from, match.capturedStart() - from);
        out += by(match);
        from = match.capturedEnd();
    }
    out += QStringView(text).sliced(from);
    return out;
}

/// What the sheet says of elements inside figures, as attributes of SVG.
class Sheet {
public:
    explicit Sheet(const QString& css) {
        static const auto root = pattern("(dark\\)\\s*\\{\\s*)?:root\\s*\\{([^}]*)\\}");
        static const auto variable = pattern("--([a-z0-9]+):\\s*(#[0-9a-fA-F]+)");
        static const auto rule = pattern("(?:svg ([a-z]*)|)(\\.[a-z0-9]+|)\\s*\\{([^}]*)\\}");
        // The last that is said holds, as in a sheet: the light page's, then what printing changes.
        for (auto found = root.globalMatch(css); found.hasNext();) {
            const Match at = found.next();
            if (!at.captured(1).isEmpty()) continue;
            for (auto each = variable.globalMatch(at.captured(2)); each.hasNext();) {
                const Match one = each.next();
                colours_[one.captured(1)] = one.captured(2);
            }
        }
        for (auto found = rule.globalMatch(css); found.hasNext();) {
            const Match at = found.next();
            const QString tag = at.captured(1), name = at.captured(2).mid(1);
            // A halo is painted under its letters, which SVG of Qt does not know: it would cover them.
            if ((tag.isEmpty() && name.isEmpty()) || name == QLatin1String("halo")) continue;
            if (at.captured(0).startsWith(QLatin1String("svg ")) || isKind(name))
                rules_.append({tag, name, attributes(at.captured(3))});
        }
    }

    QString colourOf(const QString& kind) const { return colours_.value(kind, QStringLiteral("gray")); }

    QString styled(const QString& svg) const {
        static const auto element = pattern("<([a-zA-Z]+)((?:\\s[^<>]*?)?)(/?)>");
        static const auto classes = pattern("\\sclass=\"([^\"]*)\"");
        return replaced(svg, element, [this](const Match& at) {
            const QString tag = at.captured(1);
            const QStringList names = classes.match(at.captured(2)).captured(1).split(QLatin1Char(' '));
            QHash<QString, QString> said;
            for (const Rule& rule : rules_) {
                if ((!rule.tag.isEmpty() && rule.tag != tag) || (!rule.name.isEmpty() && !names.contains(rule.name)))
                    continue;
                for (const auto& [key, value] : rule.attributes) said[key] = value;
            }
            QString more;
            for (auto each = said.cbegin(); each != said.cend(); ++each)
                if (!at.captured(2).contains(QLatin1Char(' ') + each.key() + QLatin1Char('=')))
                    more += QStringLiteral(" %1=\"%2\"").arg(each.key(), each.value());
            return QStringLiteral("<%1%2%3%4>").arg(tag, at.captured(2), more, at.captured(3));
        });
    }

private:
    struct Rule {
        QString tag, name;
        QList<std::pair<QString, QString>> attributes;
    };

    static bool isKind(const QString& name) {
        static const auto kind = pattern("^k[0-9]+$");
        return kind.match(name).hasMatch();
    }

    QList<std::pair<QString, QString>> attributes(const QString& body) const {
        static const auto variable = pattern("var\\(--([a-z0-9]+)\\)");
        static const QStringList known{QStringLiteral("fill"),           QStringLiteral("fill-opacity"),
                                       QStringLiteral("stroke"),         QStringLiteral("stroke-width"),
                                       QStringLiteral("stroke-linecap"), QStringLiteral("opacity")};
        QList<std::pair<QString, QString>> all;
        for (const QString& each : body.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
            const qsizetype colon = each.indexOf(QLatin1Char(':'));
            const QString key = each.left(colon).trimmed();
            const QString value = replaced(each.mid(colon + 1).trimmed(), variable,
                                           [this](const Match& at) { return colourOf(at.captured(1)); });
            if (known.contains(key)) all.append({key, value});
            if (key == QLatin1String("font")) {  // `12px Inter, …`
                const QString size = value.section(QLatin1Char(' '), 0, 0);
                all.append({QStringLiteral("font-size"), QString(size).remove(QLatin1String("px"))});
                all.append({QStringLiteral("font-family"), QStringLiteral("Inter")});
            }
        }
        return all;
    }

    QHash<QString, QString> colours_;
    QList<Rule> rules_;
};

/// A name, a bar of parts and a total; a long name gets a line of its own.
QString barFigure(const Match& row, const Sheet& sheet) {
    static const auto part = pattern("<span class=\"([a-z0-9]+)\" style=\"width:([0-9.]+)%\"");
    constexpr double width = 916, names = 200, totals = 110, gap = 16, height = 22, line = 18, margin = 5;
    constexpr int letters = 30;  // of 12 px that fit into `names`
    const QString name = row.captured(1), total = row.captured(4);
    const bool apart = name.size() > letters;
    const double left = apart ? 0 : names + gap, top = apart ? line : 0, whole = width - left - totals - gap;
    QString out = QStringLiteral("<svg viewBox=\"0 0 %1 %2\">").arg(width).arg(top + height + margin);
    const double middle = height / 2 + 4;
    out += QStringLiteral("<text class=\"label\" x=\"0\" y=\"%1\">%2</text>").arg(middle).arg(name);
    out += QStringLiteral("<rect x=\"%1\" y=\"%2\" width=\"%3\" height=\"%4\" fill=\"%5\"/>")
               .arg(left)
               .arg(top)
               .arg(whole)
               .arg(height)
               .arg(sheet.colourOf(QStringLiteral("faint")));
    double from = left;
    for (auto found = part.globalMatch(row.captured(2)); found.hasNext();) {
        const Match at = found.next();
        const double share = at.captured(2).toDouble() / 100 * whole;
        out += QStringLiteral("<rect class=\"%1\" x=\"%2\" y=\"%3\" width=\"%4\" height=\"%5\"/>")
                   .arg(at.captured(1))
                   .arg(from, 0, 'f', 2)
                   .arg(top)
                   .arg(share, 0, 'f', 2)
                   .arg(height);
        from += share;
    }
    return out + QStringLiteral("<text class=\"label\" x=\"%1\" y=\"%2\" text-anchor=\"end\">%3</text></svg>")
                     .arg(width)
                     .arg(top + middle)
                     .arg(total);
}

QString legendText(const QString& body, const Sheet& sheet) {
    static const auto colour = pattern("<i class=\"([a-z0-9]+)\"></i>");
    static const auto entry = pattern("<span>(.*?)</span>");
    QStringList entries;
    for (auto found = entry.globalMatch(body); found.hasNext();) {
        entries << replaced(found.next().captured(1), colour, [&](const Match& at) {
            return QStringLiteral("<font color=\"%1\">■</font>&nbsp;").arg(sheet.colourOf(at.captured(1)));
        });
    }
    return QStringLiteral("<p class=\"note\">%1</p>").arg(entries.join(QStringLiteral(" &nbsp; ")));
}

}  // namespace

QString forPaper(const QString& html) {
    static const auto style = pattern("<style>(.*?)</style>");
    static const auto row = pattern(
        "<div class=\"row\"><span>(.*?)</span><div class=\"bar\">(.*?)</div>"
        "<span class=\"n( bad)?\">(.*?)</span></div>");
    static const auto legend = pattern("<div class=\"legend\">(.*?)</div>");
    static const auto svg = pattern("<svg.*?</svg>");
    static const auto heads = pattern("<table([^>]*)><tr>(<th.*?)</tr>");
    const Sheet sheet(style.match(html).captured(1));
    QString text = html;
    text.remove(style);
    text = replaced(text, row, [&](const Match& at) { return barFigure(at, sheet); });
    text = replaced(text, legend, [&](const Match& at) { return legendText(at.captured(1), sheet); });
    text = replaced(text, svg, [&](const Match& at) { return sheet.styled(at.captured(0)); });
    text.replace(QLatin1String("</b></span><span>"), QLatin1String("</b></span> &nbsp;&middot;&nbsp; <span>"));
    // Sub-lines of a cell stand in lines of their own, and so does each entry of a list of names.
    text.replace(QLatin1String("<span class=\"sub\">"), QLatin1String("<br><span class=\"sub\">"));
    text.replace(QLatin1String("class=\"n\""), QLatin1String("align=\"right\""));
    // The heads of a table stand again on each of its pages.
    text = replaced(text, heads, [](const Match& at) {
        return QStringLiteral("<table%1><thead><tr>%2</tr></thead>").arg(at.captured(1), at.captured(2));
    });
    text.replace(QLatin1String("<table>"), QLatin1String("<table width=\"100%\" cellspacing=\"0\">"));
    text.replace(QLatin1String("<dl>"), QLatin1String("<table width=\"100%\" cellspacing=\"0\">"));
    text.replace(QLatin1String("</dl>"), QLatin1String("</table>"));
    text.replace(QLatin1String("<dt>"), QLatin1String("<tr><td class=\"term\" width=\"20%\">"));
    text.replace(QLatin1String("</dt><dd>"), QLatin1String("</td><td>"));
    text.replace(QLatin1String("</dd>"), QLatin1String("</td></tr>"));
    return text;
}

}  // namespace orrery::app
