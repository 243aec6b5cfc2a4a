#include "widgets/canvas/find_bar.h"

#include "hardware/attributes.h"
#include "hardware/walk.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>

#include <algorithm>

namespace orrery::ui {

namespace {

QString searchable(const Component& component) {
    QString text = qs(component.name) + '\n' + qs(label(component.kind)) + '\n' + qs(toText(component.kind));
    for (const Attribute& attribute : component.attributes)
        text += '\n' + qs(attribute.name) + ' ' + qs(toText(attribute.value));
    return text;
}

}  // namespace

std::vector<ComponentPath> findInDesign(const Component& root, const QString& words) {
    std::vector<ComponentPath> found;
    const QStringList list = words.split(' ', Qt::SkipEmptyParts);
    if (list.isEmpty()) return found;
    walk(root, [&](const Component& component, const ComponentPath& path) {
        const QString text = searchable(component);
        if (std::ranges::all_of(list, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); }))
            found.push_back(path);
        return true;
    });
    return found;
}

FindBar::FindBar(CanvasView* view, QWidget* parent) : QWidget(parent), view_(view) {
    setObjectName("canvasFindBar");
    setAccessibleName(tr("Find on the canvas"));
    words_ = new QLineEdit(this);
    words_->setObjectName("canvasFindWords");
    words_->setAccessibleName(tr("Find components"));
    words_->setPlaceholderText(tr("Name, kind or value"));
    words_->setToolTip(
        tr("Words of a name, a kind or an attribute with its value, e.g. “dram” or “capacity 80”.\n"
           "Enter: next, Shift+Enter: previous, Esc: back to the canvas"));
    words_->setClearButtonEnabled(true);
    count_ = new QLabel(this);
    count_->setObjectName("canvasFindCount");
    auto* back = new IconButton("go-up", tr("Previous match (Shift+Enter)"), "canvasFindPrevious", this);
    auto* forward = new IconButton("go-down", tr("Next match (Enter)"), "canvasFindNext", this);
    auto* shut = new IconButton("window-close", tr("Close (Esc)"), "canvasFindClose", this);
    auto* row = new QHBoxLayout(this);
    const int unit = Theme::instance().unit();
    row->setContentsMargins(unit, unit / 2, unit, unit / 2);
    row->setSpacing(unit / 2);
    row->addWidget(words_, 1);
    row->addWidget(count_);
    row->addWidget(back);
    row->addWidget(forward);
    row->addWidget(shut);
    connect(words_, &QLineEdit::textChanged, this, [this] {
        search();
        go(0);
    });
    connect(back, &QToolButton::clicked, this, &FindBar::previous);
    connect(forward, &QToolButton::clicked, this, &FindBar::next);
    connect(shut, &QToolButton::clicked, this, &FindBar::dismiss);
    connect(view, &CanvasView::designChanged, this, [this] {
        if (!isHidden()) search();
    });
    hide();
}

void FindBar::open() {
    show();
    words_->selectAll();
    words_->setFocus(Qt::ShortcutFocusReason);
    search();
}

void FindBar::dismiss() {
    hide();
    view_->setFound({});
    view_->setFocus(Qt::OtherFocusReason);
}

void FindBar::search() {
    const ComponentPath current = at_ >= 0 && at_ < static_cast<int>(found_.size()) ? found_[at_] : ComponentPath{};
    const HardwarePtr& hardware = view_->scene().hardware();
    found_ = hardware ? findInDesign(hardware->root, words_->text()) : std::vector<ComponentPath>{};
    const auto same = std::find(found_.begin(), found_.end(), current);
    at_ = same != found_.end() ? static_cast<int>(same - found_.begin()) : (found_.empty() ? -1 : 0);
    view_->setFound(found_);
    say();
}

void FindBar::go(int step) {
    const int count = static_cast<int>(found_.size());
    if (count == 0) return say();
    at_ = ((std::max(at_, 0) + step) % count + count) % count;
    view_->selection()->select({found_[at_]});
    view_->ensureVisible(found_[at_]);
    say();
}

void FindBar::say() {
    QString text;
    if (!words_->text().trimmed().isEmpty())
        text = found_.empty() ? tr("none") : tr("%1 of %2").arg(at_ + 1).arg(found_.size());
    count_->setText(text);
    count_->setAccessibleName(text);
    for (const char* name : {"canvasFindPrevious", "canvasFindNext"})
        findChild<QWidget*>(name)->setEnabled(!found_.empty());
}

void FindBar::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return dismiss();
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        return go(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    QWidget::keyPressEvent(event);
}

}  // namespace orrery::ui
