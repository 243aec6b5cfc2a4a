#pragma once

#include "base/diagnostic.h"

#include <QWidget>

#include <functional>
#include <vector>

class QVBoxLayout;

namespace orrery::ui {

struct Notification {
    struct Action {
        QString text;
        std::function<void()> run;
    };
    Severity severity = Severity::Note;
    QString text;
    QString detail;  ///< hint; may be empty
    std::vector<Action> actions;
    QString key;              ///< a later one with the same key replaces it; empty: none
    int dismissAfterMs = -1;  ///< -1: 6 s for notes without actions, never for the rest; 0: never
};

/// Says things without stopping anybody: stacked bars below the documents, at most four, the rest counted.
class NotificationBar : public QWidget {
    Q_OBJECT
public:
    explicit NotificationBar(QWidget* parent = nullptr);
    int notify(const Notification& notification);
    int notify(const Diagnostic& diagnostic);
    void dismiss(int id);
    void dismissKey(const QString& key);
    int count() const;

signals:
    void dismissed(int id);

private:
    void arrange();

    QVBoxLayout* list_;
    class Label* more_;
    std::vector<class NotificationRow*> rows_;
    int next_ = 1;
};

}  // namespace orrery::ui
