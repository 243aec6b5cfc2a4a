#include "widgets/library/library.h"

#include "base/unit.h"
#include "widgets/common/text.h"
#include "widgets/comparison/method_hover_card.h"
#include "widgets/library/library_model.h"
#include "widgets/library/library_numbers.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QTabBar>
#include <QTimer>
#include <QVBoxLayout>

namespace orrery::ui {

LibraryPanel::LibraryPanel(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("library"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    tabs_ = new QTabBar(this);
    tabs_->setObjectName(QStringLiteral("library.tabs"));
    tabs_->setAccessibleName(tr("Library section"));
    tabs_->setToolTip(tr("Choose between devices, models and methods (← →)"));
    tabs_->setUsesScrollButtons(false);
    tabs_->setDrawBase(false);
    tabs_->setExpanding(true);
    tabs_->addTab(tr("Devices"));
    tabs_->addTab(tr("Models"));
    tabs_->addTab(tr("Methods"));
    column->addSpacing(4);
    column->addWidget(tabs_);
    search_ = new QLineEdit(this);
    search_->setObjectName(QStringLiteral("library.search"));
    search_->setAccessibleName(tr("Search the library"));
    search_->setPlaceholderText(tr("Search"));
    search_->setToolTip(tr("Show what contains all these words (↓ goes to the list, Esc clears)"));
    search_->setClearButtonEnabled(true);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(8, 8, 8, 4);
    top->addWidget(search_);
    column->addLayout(top);
    model_ = new LibraryModel(this);
    filter_ = new CardFilter(this);
    filter_->setSourceModel(model_);
    list_ = new CardList(this);
    list_->setObjectName(QStringLiteral("library.list"));
    list_->setAccessibleName(tr("Library"));
    list_->setModel(filter_);
    list_->setItemDelegate(new LibraryDelegate(list_));
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(list_, &QListView::customContextMenuRequested, this, [this](const QPoint& at) {
        const QModelIndex pointed = list_->indexAt(at);
        showMenu(pointed.isValid() ? pointed : list_->currentIndex(), list_->viewport()->mapToGlobal(at));
    });
    column->addWidget(list_, 1);
    card_ = new MethodHoverCard(this);
    reader_ = new QTimer(this);
    connect(reader_, &QTimer::timeout, this, &LibraryPanel::readNext);

    const auto refilter = [this] {
        card_->hide();
        filter_->set(tabs_->currentIndex(), search_->text());
        list_->setToolTip(tabs_->currentIndex() == LibraryItem::Method
                              ? tr("Space or a click on the box turns a method on or off")
                              : tr("Enter or a double click chooses it; or drag it to its place"));
        // What is called so comes before what only mentions it.
        int best = 0;
        for (int row = 0; row < filter_->rowCount(); ++row) {
            if (!filter_->index(row, 0).data().toString().contains(search_->text().trimmed(), Qt::CaseInsensitive))
                continue;
            best = row;
            break;
        }
        if (filter_->rowCount() > 0) list_->setCurrentIndex(filter_->index(best, 0));
    };
    connect(tabs_, &QTabBar::currentChanged, this, refilter);
    connect(search_, &QLineEdit::textChanged, this, refilter);
    connect(list_, &QListView::activated, this, &LibraryPanel::choose);
    connect(model_, &LibraryModel::toggled, this, &LibraryPanel::methodToggled);
    connect(&Theme::instance(), &Theme::changed, list_, [this] { list_->doItemsLayout(); });
    wireCardKeys(search_, list_, [this](const QModelIndex& index) { choose(index); });
    list_->viewport()->installEventFilter(this);
    list_->installEventFilter(this);
    refilter();
}

void LibraryPanel::showSection(Section section) {
    search_->clear();
    tabs_->setCurrentIndex(section);
    search_->setFocus(Qt::OtherFocusReason);
}

void LibraryPanel::setHardware(const std::vector<CatalogueEntry>& entries) {
    std::vector<LibraryItem> items;
    for (const CatalogueEntry& entry : entries)
        items.push_back({LibraryItem::Device, qs(entry.id), qs(entry.name), qs(entry.group), qs(entry.description),
                         qs(entry.name) + QLatin1Char('\n') + qs(entry.description), qs(entry.description)});
    model_->replace(LibraryItem::Device, std::move(items));
    unread_.assign(entries.rbegin(), entries.rend());
    if (isVisible()) reader_->start();
}

void LibraryPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!unread_.empty()) reader_->start();
}

/// One file at a time, so that the window never waits for the library.
void LibraryPanel::readNext() {
    if (unread_.empty() || !isVisible()) return reader_->stop();
    const CatalogueEntry entry = std::move(unread_.back());
    unread_.pop_back();
    const auto loaded = loadHardware(entry.file.empty() ? entry.id : entry.file);
    if (!loaded) return;
    if (const QString numbers = deviceNumbers(loaded->hardware); !numbers.isEmpty())
        model_->setDetail(qs(entry.id), numbers);
}

void LibraryPanel::setWorkloads(const std::vector<WorkloadInfo>& workloads) {
    std::vector<LibraryItem> items;
    for (const WorkloadInfo& info : workloads)
        items.push_back({LibraryItem::Model, qs(info.id), qs(info.name), qs(info.group), qs(info.description),
                         QStringLiteral("%1\n%2\n%3").arg(qs(info.name), qs(info.description), qs(info.source))});
    model_->replace(LibraryItem::Model, std::move(items));
}

void LibraryPanel::setMethods(std::span<const Method> methods) {
    std::vector<LibraryItem> items;
    for (const Method& method : methods) {
        const MethodCard& card = method.card;
        QString group = qs(toText(card.methodology));
        if (!group.isEmpty()) group[0] = group[0].toUpper();
        items.push_back({LibraryItem::Method, qs(card.id), qs(card.title), group,
                         QStringLiteral("%1 · %2").arg(qs(toText(card.level)), qs(toText(card.cost))),
                         qs(card.summary)});
    }
    model_->replace(LibraryItem::Method, std::move(items));
}

void LibraryPanel::setMethodSet(const QStringList& ids) {
    model_->setChecked(ids);
}

void LibraryPanel::choose(const QModelIndex& index) {
    const QString id = index.data(LibraryModel::IdRole).toString();
    switch (static_cast<LibraryItem::Kind>(index.data(LibraryModel::KindRole).toInt())) {
        case LibraryItem::Device:
            return emit hardwareChosen(id);
        case LibraryItem::Model:
            return emit workloadChosen(id);
        case LibraryItem::Method:
            filter_->setData(index, index.data(Qt::CheckStateRole).toInt() == Qt::Checked ? Qt::Unchecked : Qt::Checked,
                             Qt::CheckStateRole);
    }
}

void LibraryPanel::showMenu(const QModelIndex& index, const QPoint& global) {
    if (!index.isValid()) return;
    card_->hide();
    const QString id = index.data(LibraryModel::IdRole).toString();
    QMenu menu(this);
    menu.setObjectName(QStringLiteral("libraryMenu"));
    menu.setToolTipsVisible(true);
    const auto add = [&menu](const QString& text, const QString& tip, auto run) {
        menu.addAction(text, &menu, run)->setToolTip(tip);
    };
    switch (static_cast<LibraryItem::Kind>(index.data(LibraryModel::KindRole).toInt())) {
        case LibraryItem::Device:
            add(tr("&Use it"), tr("Add the device to the project and show it"),
                [this, id] { emit hardwareChosen(id); });
            add(tr("&Derive a design from it"), tr("Add it and a copy to change, side by side with the differences"),
                [this, id] { emit hardwareDeriveRequested(id); });
            add(tr("&Insert into the selected component"), tr("Put its parts into the current design"),
                [this, id] { emit hardwareInsertRequested(id); });
            break;
        case LibraryItem::Model:
            add(tr("&Use it"), tr("Add the model to the project and show it"), [this, id] { emit workloadChosen(id); });
            break;
        case LibraryItem::Method: {
            const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
            add(on ? tr("Take it &out of the set") : tr("Put it into the &set"), tr("Which methods answer"),
                [this, index] { choose(index); });
        }
    }
    menu.exec(global);
}

bool LibraryPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == list_ && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space && tabs_->currentIndex() == LibraryItem::Method) {
        if (list_->currentIndex().isValid()) choose(list_->currentIndex());
        return true;
    }
    if (watched == list_->viewport()) {
        // The card shows where a tooltip would, and goes when the mouse does.
        if (event->type() == QEvent::ToolTip) {
            const QModelIndex index = list_->indexAt(static_cast<QHelpEvent*>(event)->pos());
            const Method* method = index.data(LibraryModel::KindRole).toInt() == LibraryItem::Method
                                       ? findMethod(index.data(LibraryModel::IdRole).toString().toStdString())
                                       : nullptr;
            if (index.isValid() && method) {
                const QRect row = list_->visualRect(index);
                const Scenario* asked = question_ ? question_() : nullptr;
                const auto cost = asked ? expectedCost(*method, *asked) : std::nullopt;
                card_->showFor(method->card, QRect(list_->viewport()->mapToGlobal(row.topLeft()), row.size()),
                               cost ? tr("For the current question: about %1").arg(qs(format(*cost, 2))) : QString());
                return true;
            }
        }
        if (event->type() == QEvent::Leave || event->type() == QEvent::MouseMove || event->type() == QEvent::Wheel ||
            event->type() == QEvent::MouseButtonPress)
            card_->hide();
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace orrery::ui
