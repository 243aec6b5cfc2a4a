#include "widgets/messages/problems_panel.h"

#include "widgets/common/glyphs.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/messages/problems_delegate.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QListView>
#include <QMenu>
#include <QMouseEvent>
#include <QShortcut>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {

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
    list_->setToolTip(tr("A click or Enter goes to the place; Alt+Enter offers quick fixes; Ctrl+C copies"));
    list_->setModel(model_);
    list_->setItemDelegate(new ProblemsDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setResizeMode(QListView::Adjust);
    list_->setMouseTracking(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(list_, 1);
    empty_ = new EmptyPage(
        tr("No problems"),
        tr("Problems of the design, the workload or an answer are listed here, with their place and a hint."), {},
        this);
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
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(list_, &QListView::customContextMenuRequested, this,
            [this](const QPoint& at) { showMenu(list_->indexAt(at), list_->viewport()->mapToGlobal(at), false); });
    list_->installEventFilter(this);
    list_->viewport()->installEventFilter(this);
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

void ProblemsPanel::setDesign(HardwarePtr design) {
    if (design == design_) return;
    design_ = std::move(design);
    if (!design_) return model_->setFixProvider(nullptr);
    model_->setFixProvider([shown = design_](const Diagnostic& problem) { return fixesFor(*shown, problem); });
}

void ProblemsPanel::showMenu(const QModelIndex& index, const QPoint& global, bool fixesOnly) {
    if (!index.isValid()) return;
    const Diagnostic problem = model_->at(index.row());
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("problems.menu"));
    menu->QWidget::setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    const std::vector<Fix>& fixes = model_->fixes(index.row());
    for (std::size_t i = 0; i < fixes.size(); ++i) {
        const QString title = windowText(fixes[i].title);
        QAction* action = menu->addAction(
            title, this, [this, problem, i, title] { emit fixRequested(problem, static_cast<int>(i), title); });
        action->setToolTip(tr("Solves: %1").arg(windowText(problem.message)));
    }
    if (fixes.empty()) {
        QAction* none = menu->addAction(tr("No quick fix: this one is for you to decide"));
        none->setEnabled(false);
        none->setToolTip(windowText(problem.hint.empty() ? problem.expected : problem.hint));
    }
    if (!fixesOnly) {
        menu->addSeparator();
        menu->addAction(tr("Go to the place"), this, [this, problem] { emit jumpTo(problem.place); })
            ->setToolTip(tr("Enter does so too"));
        menu->addAction(tr("Copy"), this, [this] { QApplication::clipboard()->setText(selectedText()); })
            ->setToolTip(tr("The selected problems as text (Ctrl+C)"));
    }
    menu->popup(global);
    if (fixesOnly && !menu->actions().isEmpty()) menu->setActiveAction(menu->actions().front());
}

bool ProblemsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == list_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if ((key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) && key->modifiers() & Qt::AltModifier) {
            const QModelIndex index = list_->currentIndex();
            const QRect row = list_->visualRect(index);
            showMenu(index, list_->viewport()->mapToGlobal(row.bottomLeft()), true);
            return true;
        }
    }
    if (watched == list_->viewport() && event->type() == QEvent::MouseButtonPress) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const QPoint at = mouse->position().toPoint();
        const QModelIndex index = list_->indexAt(at);
        const QRect bulb = ProblemsDelegate::bulb(list_->visualRect(index), index);
        if (mouse->button() == Qt::LeftButton && bulb.isValid() && bulb.contains(at)) {
            list_->setCurrentIndex(index);
            showMenu(index, list_->viewport()->mapToGlobal(bulb.bottomLeft()), true);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
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
