#include "widgets/handbook/handbook.h"

#include "base/text/read_file.h"

#include <QDir>
#include <QRegularExpression>

#include <algorithm>

namespace orrery::ui {

namespace {

constexpr std::size_t mostHits = 60;

QString anchorOf(const QString& heading) {
    QString anchor;
    for (const QChar c : heading.toLower()) {
        if (c.isLetterOrNumber() || c == QLatin1Char('-') || c == QLatin1Char('_'))
            anchor += c;
        else if (c.isSpace())
            anchor += QLatin1Char('-');
    }
    return anchor;
}

// Headings are lines that begin with `#`, but in blocks of code.
HandbookPage pageOf(const QString& file, const QString& text) {
    HandbookPage page{file, {}, text, {}};
    bool code = false;
    static const QRegularExpression marks(QStringLiteral("^(#{1,6})\\s+(.*)$"));
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        if (line.startsWith(QLatin1String("```"))) code = !code;
        const auto match = code ? QRegularExpressionMatch() : marks.match(line);
        if (match.hasMatch()) {
            page.sections.push_back({plainText(match.captured(2)), int(match.capturedLength(1)), {}});
            continue;
        }
        if (page.sections.empty()) page.sections.push_back({file, 1, {}});
        page.sections.back().text += line + QLatin1Char('\n');
    }
    page.title = page.sections.empty() ? file : page.sections.front().heading;
    return page;
}

}  // namespace

QString plainText(QString markdown) {
    static const QRegularExpression link(QStringLiteral("!?\\[([^\\]]*)\\]\\([^)]*\\)"));
    static const QRegularExpression marks(QStringLiteral("\\*\\*|`|(?<![\\w*])\\*(?=\\S)|(?<=\\S)\\*(?![\\w*])"));
    markdown.replace(link, QStringLiteral("\\1"));
    return markdown.remove(marks).simplified();
}

Handbook Handbook::of(const QString& folder) {
    Handbook book;
    const QDir files(folder);
    book.folder_ = files.absolutePath();
    for (const QString& name : files.entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name)) {
        const Expected<std::string> text = readFile(files.filePath(name).toStdString());
        if (text) book.pages_.push_back(pageOf(name, QString::fromStdString(*text)));
    }
    const auto first = [](const HandbookPage& page) { return page.file != QLatin1String("README.md"); };
    std::ranges::sort(book.pages_, [&](const HandbookPage& a, const HandbookPage& b) {
        return std::pair(first(a), a.title.toLower()) < std::pair(first(b), b.title.toLower());
    });
    return book;
}

int Handbook::find(const QString& file) const {
    const auto at = std::ranges::find(pages_, file, &HandbookPage::file);
    return at == pages_.end() ? -1 : int(at - pages_.begin());
}

int Handbook::section(int page, const QString& anchor) const {
    if (page < 0 || std::size_t(page) >= pages_.size()) return 0;
    const auto& sections = pages_[std::size_t(page)].sections;
    const auto at = std::ranges::find_if(
        sections, [&](const HandbookSection& each) { return anchorOf(each.heading) == anchorOf(anchor); });
    return at == sections.end() ? 0 : int(at - sections.begin());
}

std::vector<HandbookHit> Handbook::search(const QString& words) const {
    const QStringList wanted = words.simplified().toCaseFolded().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (wanted.isEmpty()) return {};
    struct Ranked {
        HandbookHit hit;
        int score;
    };
    std::vector<Ranked> found;
    for (std::size_t p = 0; p < pages_.size(); ++p) {
        const QString title = pages_[p].title.toCaseFolded();
        for (std::size_t s = 0; s < pages_[p].sections.size(); ++s) {
            const HandbookSection& section = pages_[p].sections[s];
            const QString heading = section.heading.toCaseFolded(), text = section.text.toCaseFolded();
            int score = 0;
            for (const QString& word : wanted) {
                const auto times = text.count(word);
                if (times == 0 && !heading.contains(word)) {
                    score = -1;
                    break;
                }
                score += (heading.contains(word) ? 100 : 0) + (title.contains(word) ? 20 : 0) +
                         int(std::min<qsizetype>(times, 9));
            }
            if (score < 0) continue;
            QString line;
            for (const QString& each : section.text.split(QLatin1Char('\n'))) {
                if (!each.toCaseFolded().contains(wanted.front())) continue;
                line = plainText(each);
                break;
            }
            found.push_back({{int(p), int(s), line}, score});
        }
    }
    std::ranges::stable_sort(found, std::greater(), &Ranked::score);
    std::vector<HandbookHit> hits;
    for (const Ranked& each : found) {
        if (hits.size() == mostHits) break;
        hits.push_back(each.hit);
    }
    return hits;
}

}  // namespace orrery::ui
