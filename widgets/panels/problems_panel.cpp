#include "widgets/panels/problems_panel.h"

#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/panels/glyphs.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QListView>
#include <QPainter>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int lineHeight = 19;

bool isNarrow(const QWidget* list) {
    return list && list->width() < 480;
}

class ProblemDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const bool hint = !index.data(ProblemsModel::HintRole).toString().isEmpty();
        const bool place = isNarrow(option.widget) && !index.data(ProblemsModel::PlaceRole).toString().isEmpty();
        return {120, lineHeight * (1 + (hint ? 1 : 0) + (place ? 1 : 0)) + 10};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        const Palette& colours = theme.colours();
        painter->save();
        if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
            QColor fill = colours.selection;
            if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
            painter->fillRect(option.rect, fill);
        }
        const QRect box = option.rect.adjusted(10, 5, -10, -5);
        paintSeverity(*painter, static_cast<Severity>(index.data(ProblemsModel::SeverityRole).toInt()),
                      QRectF(box.left(), box.top() + 1, 16, 16));
        const int left = box.left() + 24;
        painter->setFont(theme.font(FontRole::Small));
        painter->setPen(colours.mutedText);
        const QString place = index.data(ProblemsModel::PlaceRole).toString();
        // Beside the message where there is room, else on a line of its own.
        const bool below = isNarrow(option.widget);
        const int placeWidth = below
                                   ? box.right() - left
                                   : std::min(painter->fontMetrics().horizontalAdvance(place) + 2, box.width() * 2 / 5);
        const int placeTop = below ? box.bottom() - lineHeight + 1 : box.top();
        painter->drawText(QRect(box.right() - placeWidth, placeTop, placeWidth, lineHeight),
                          Qt::AlignVCenter | (below ? Qt::AlignLeft : Qt::AlignRight),
                          painter->fontMetrics().elidedText(place, Qt::ElideLeft, placeWidth));
        const QString hint = index.data(ProblemsModel::HintRole).toString();
        if (!hint.isEmpty()) {
            const int room = box.right() - left;
            painter->drawText(QRect(left, box.top() + lineHeight, room, lineHeight), Qt::AlignVCenter,
                              painter->fontMetrics().elidedText(hint, Qt::ElideRight, room));
        }
        painter->setFont(theme.font(FontRole::Body));
        painter->setPen(colours.text);
        const int room = below ? box.right() - left : box.right() - placeWidth - 16 - left;
        painter->drawText(QRect(left, box.top(), room, lineHeight), Qt::AlignVCenter,
                          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room));
        painter->restore();
    }
};

}  // namespace

void ProblemsModel::setDiagnostics(Diagnostics diagnostics) {
    if (diagnostics == all_) return;
    beginResetModel();
    all_ = std::move(diagnostics);
    refilter();
    endResetModel();
}

void ProblemsModel::setShown(Severity severity, bool shown) {
    beginResetModel();
    shown_[static_cast<std::size_t>(severity)] = shown;
    refilter();
    endResetModel();
}

void ProblemsModel::refilter() {
    rows_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (isShown(all_[i].severity)) rows_.push_back(static_cast<int>(i));
    std::stable_sort(rows_.begin(), rows_.end(), [this](int a, int b) {
        return all_[static_cast<std::size_t>(a)].severity > all_[static_cast<std::size_t>(b)].severity;
    });
}

int ProblemsModel::count(Severity severity) const {
    return static_cast<int>(
        std::count_if(all_.begin(), all_.end(), [severity](const Diagnostic& d) { return d.severity == severity; }));
}

int ProblemsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant ProblemsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Diagnostic& problem = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
        case MessageRole:
            return qs(problem.message);
        case Qt::ToolTipRole:
        case Qt::AccessibleTextRole:
            return qs(toText(problem));
        case PlaceRole:
            return qs(toText(problem.place));
        case HintRole: {
            QStringList parts;
            if (!problem.expected.empty()) parts << tr("Expected %1").arg(qs(problem.expected));
            if (!problem.hint.empty()) parts << qs(problem.hint);
            return parts.join(QStringLiteral(" – "));
        }
        case SeverityRole:
            return static_cast<int>(problem.severity);
        default:
            return {};
    }
}

ProblemsPanel::ProblemsPanel(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("problems"));
    model_ = new ProblemsModel(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 4, 8, 4);
    top->setSpacing(4);
    const QString names[] = {tr("notes"), tr("warnings"), tr("errors")};
    for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Note}) {
        auto* button = new QToolButton(this);
        const auto at = static_cast<std::size_t>(severity);
        button->setObjectName(QStringLiteral("problems.") + qs(toText(severity)));
        button->setAccessibleName(tr("Show %1").arg(names[at]));
        button->setToolTip(tr("Show or hide %1").arg(names[at]));
        button->setCheckable(true);
        button->setChecked(true);
        button->setAutoRaise(true);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        connect(button, &QToolButton::toggled, this, [this, severity](bool on) {
            model_->setShown(severity, on);
            refresh();
        });
        filters_[at] = button;
        top->addWidget(button);
    }
    top->addStretch(1);
    auto* copy = new IconButton(QStringLiteral("edit-copy"), tr("Copy the selected problems, or all (Ctrl+C)"),
                                QStringLiteral("problems.copy"), this);
    top->addWidget(copy);
    column->addLayout(top);
    list_ = new QListView(this);
    list_->setObjectName(QStringLiteral("problems.list"));
    list_->setAccessibleName(tr("Problems"));
    list_->setToolTip(tr("A click or Enter goes to the place; Ctrl+C copies"));
    list_->setModel(model_);
    list_->setItemDelegate(new ProblemDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setResizeMode(QListView::Adjust);
    list_->setMouseTracking(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(list_, 1);
    empty_ = new EmptyPage(tr("No problems"),
                           tr("What is wrong or odd in the design, the workload or an answer is listed here, with its "
                              "place and what to do."),
                           {}, this);
    column->addWidget(empty_, 1);
    const auto restyle = [this] {
        for (const Severity severity : {Severity::Note, Severity::Warning, Severity::Error})
            filters_[static_cast<std::size_t>(severity)]->setIcon(severityIcon(severity));
        list_->viewport()->update();
    };
    restyle();
    connect(&Theme::instance(), &Theme::changed, this, restyle);
    connect(list_, &QListView::clicked, this,
            [this](const QModelIndex& index) { emit jumpTo(model_->at(index.row()).place); });
    connect(list_, &QListView::activated, this,
            [this](const QModelIndex& index) { emit jumpTo(model_->at(index.row()).place); });
    connect(copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(selectedText()); });
    auto* keys = new QShortcut(QKeySequence::Copy, list_);
    keys->setContext(Qt::WidgetShortcut);
    connect(keys, &QShortcut::activated, this, [this] { QApplication::clipboard()->setText(selectedText()); });
    refresh();
}

QString ProblemsPanel::selectedText() const {
    QModelIndexList chosen = list_->selectionModel()->selectedIndexes();
    std::sort(chosen.begin(), chosen.end());
    if (chosen.isEmpty())
        for (int row = 0; row < model_->rowCount(); ++row) chosen << model_->index(row);
    QStringList lines;
    for (const QModelIndex& index : chosen) lines << qs(toText(model_->at(index.row())));
    return lines.join(QLatin1Char('\n'));
}

void ProblemsPanel::setDiagnostics(const Diagnostics& diagnostics) {
    model_->setDiagnostics(diagnostics);
    refresh();
    emit countsChanged(model_->count(Severity::Error), model_->count(Severity::Warning));
}

void ProblemsPanel::refresh() {
    for (const Severity severity : {Severity::Note, Severity::Warning, Severity::Error})
        filters_[static_cast<std::size_t>(severity)]->setText(QString::number(model_->count(severity)));
    const bool any = model_->rowCount() > 0;
    list_->setVisible(any);
    empty_->setVisible(!any);
}

}  // namespace orrery::ui
