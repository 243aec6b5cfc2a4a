#include "widgets/welcome/palette_model.h"

#include "widgets/common/theme.h"

#include <QPainter>

#include <algorithm>

namespace orrery::ui {
namespace {
constexpr std::size_t most = 200;
}

int fuzzyScore(const QString& pattern, const QString& text, std::vector<int>* hits) {
    if (hits) hits->clear();
    if (pattern.isEmpty()) return 1;
    // Greedy from each possible first letter; the best start wins. Linear in text × occurrences of one letter.
    int best = 0;
    std::vector<int> found;
    const QString wanted = pattern.simplified().remove(QLatin1Char(' ')).toCaseFolded();
    const QString hay = text.toCaseFolded();
    if (wanted.isEmpty()) return 1;
    for (qsizetype start = hay.indexOf(wanted[0]); start >= 0; start = hay.indexOf(wanted[0], start + 1)) {
        found.clear();
        int score = 0;
        qsizetype at = start;
        for (qsizetype i = 0; i < wanted.size(); ++i) {
            at = i == 0 ? start : hay.indexOf(wanted[i], at + 1);
            if (at < 0) break;
            const bool wordStart =
                at == 0 || !hay[at - 1].isLetterOrNumber() || (text[at].isUpper() && text[at - 1].isLower());
            const bool run = !found.empty() && found.back() == at - 1;
            score += 10 + (wordStart ? 12 : 0) + (run ? 14 : 0);
            if (!found.empty() && !run) score -= static_cast<int>(std::min<qsizetype>(at - found.back() - 1, 6));
            found.push_back(static_cast<int>(at));
        }
        if (at < 0) break;  // later starts have even less text behind them
        score -= static_cast<int>(std::min<qsizetype>(hay.size() / 8, 8));
        score = std::max(score, 1);
        if (score > best) {
            best = score;
            if (hits) *hits = found;
        }
    }
    return best;
}

int wordsScore(const QString& pattern, const PaletteEntry& entry) {
    const QString title = QLatin1Char(' ') + entry.title.toCaseFolded();
    const QString rest = QStringLiteral(" %1 %2").arg(entry.group, entry.detail).toCaseFolded();
    const auto beginsIn = [](const QString& text, const QString& word) {
        for (qsizetype at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
            if (at == 0 || !text[at - 1].isLetterOrNumber()) return true;
        return false;
    };
    int score = 0;
    for (const QString& word : pattern.simplified().toCaseFolded().split(QLatin1Char(' '))) {
        const bool inTitle = beginsIn(title, word);
        if (!inTitle && !beginsIn(rest, word)) return 0;
        // Nearly as much as letters in a row: `present` is what a command says it is for before letters strewn over a
        // title.
        score += 20 * static_cast<int>(word.size()) + (inTitle ? 30 : 8);
    }
    return score;
}

void PaletteModel::setItems(std::vector<Item> items) {
    beginResetModel();
    items_ = std::move(items);
    rows_.clear();
    endResetModel();
}

void PaletteModel::setPattern(const QString& pattern) {
    beginResetModel();
    rows_.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
        Item& item = items_[i];
        if (pattern.isEmpty()) {
            item.hits.clear();
            if (item.entry.group.isEmpty()) rows_.push_back(static_cast<int>(i));
            continue;
        }
        item.score = fuzzyScore(pattern, item.entry.title, &item.hits);
        if (item.score == 0) {  // `gpu h100` finds a title by its group
            item.score = fuzzyScore(pattern, item.entry.group + QLatin1Char(' ') + item.entry.title) / 2;
            item.hits.clear();
        }
        // `sweep` finds what a command does, `tile-wave` a method by its id.
        item.score = std::max(item.score, wordsScore(pattern, item.entry));
        // `Roofline` is asked for by its name, before “The roofline”.
        if (item.score > 0 && item.entry.title.compare(pattern, Qt::CaseInsensitive) == 0) item.score += 1000;
        if (item.score > 0) rows_.push_back(static_cast<int>(i));
    }
    if (!pattern.isEmpty())
        std::stable_sort(rows_.begin(), rows_.end(), [this](int a, int b) {
            return items_[static_cast<std::size_t>(a)].score > items_[static_cast<std::size_t>(b)].score;
        });
    if (rows_.size() > most) rows_.resize(most);
    endResetModel();
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Item& item = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return item.entry.title;
        case Qt::DecorationRole:
            return item.entry.icon;
        case GroupRole:
            return item.entry.group;
        case DetailRole:
            return item.entry.detail;
        case ShortcutRole:
            return item.shortcut;
        case HitsRole:
            return QVariant::fromValue(QList<int>(item.hits.begin(), item.hits.end()));
        default:
            return {};
    }
}

QSize PaletteDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
    return {200, height};
}

void PaletteDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        QColor fill = colours.selection;
        if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
        painter->setPen(Qt::NoPen);
        painter->setBrush(fill);
        painter->drawRoundedRect(option.rect.adjusted(0, 1, 0, -1), 4, 4);
    }
    QRect box = option.rect.adjusted(8, 0, -10, 0);
    const QIcon icon = index.data(Qt::DecorationRole).value<QIcon>();
    if (!icon.isNull()) icon.paint(painter, QRect(box.left(), box.center().y() - 8, 16, 16));
    box.setLeft(box.left() + 26);

    painter->setFont(theme.font(FontRole::Small));
    painter->setPen(colours.mutedText);
    const QString right = index.data(PaletteModel::ShortcutRole).toString().isEmpty()
                              ? index.data(PaletteModel::GroupRole).toString()
                              : index.data(PaletteModel::ShortcutRole).toString();
    const int rightWidth = painter->fontMetrics().horizontalAdvance(right);
    painter->drawText(box, Qt::AlignVCenter | Qt::AlignRight, right);
    box.setRight(box.right() - rightWidth - 12);

    // Letters that matched stand out.
    const QString title = index.data().toString();
    const auto hits = index.data(PaletteModel::HitsRole).value<QList<int>>();
    QFont plain = theme.font(FontRole::Body), strong = plain;
    strong.setWeight(QFont::Bold);
    int x = box.left();
    for (qsizetype i = 0; i < title.size() && x < box.right();) {
        const bool hit = hits.contains(static_cast<int>(i));
        qsizetype end = i;
        while (end < title.size() && hits.contains(static_cast<int>(end)) == hit) ++end;
        painter->setFont(hit ? strong : plain);
        painter->setPen(hit ? colours.accent : colours.text);
        const QString part = painter->fontMetrics().elidedText(title.mid(i, end - i), Qt::ElideRight, box.right() - x);
        painter->drawText(QRect(x, box.top(), box.right() - x, box.height()), Qt::AlignVCenter, part);
        x += painter->fontMetrics().horizontalAdvance(part);
        i = end;
    }
    const QString detail = index.data(PaletteModel::DetailRole).toString();
    if (!detail.isEmpty() && box.right() - x > 60) {
        painter->setFont(theme.font(FontRole::Small));
        painter->setPen(colours.mutedText);
        painter->drawText(QRect(x + 12, box.top(), box.right() - x - 12, box.height()), Qt::AlignVCenter,
                          painter->fontMetrics().elidedText(detail, Qt::ElideRight, box.right() - x - 12));
    }
    painter->restore();
}

}  // namespace orrery::ui
